/** Leases of workflows over HTTP. */
import { z } from "zod";
import { defineRoute, noContent, ok, type Route } from "../framework/index.ts";
import { fencing, Lease, LeaseHolder, leaseSeconds } from "./workflow-schemas.ts";
import { type Workflows, one, params, requiredToken } from "./workflow-conditions.ts";

export function leaseRoutes(workflows: Workflows): readonly Route[] {
  const shared = { path: `${one}/lease`, tag: "workflows", auth: "caller", params } as const;
  return [
    defineRoute({
      ...shared,
      method: "GET",
      operationId: "getLease",
      summary: "Get the owner and the expiry of the lease",
      answers: {
        200: {
          description:
            "Without the fencing token, which only the owner has. owner and expires_at are null if the lease is free.",
          schema: LeaseHolder,
        },
      },
      handler: async ({ caller, params: p }) => ok(await workflows.lease(caller, p.wid)),
    }),
    defineRoute({
      ...shared,
      method: "POST",
      operationId: "acquireLease",
      summary: "Acquire the lease: while it is held, only writes with its fencing token are accepted",
      body: z.strictObject({ owner: z.string(), lease_seconds: leaseSeconds }),
      answers: { 200: { description: "The lease.", schema: Lease } },
      handler: async ({ caller, params: p, body }) =>
        ok(await workflows.acquireLease(caller, p.wid, { owner: body.owner, leaseSeconds: body.lease_seconds })),
    }),
    defineRoute({
      ...shared,
      method: "PUT",
      operationId: "renewLease",
      summary: "Renew the lease",
      query: z.object(fencing),
      body: z.strictObject({ fencing_token: z.number().int().optional(), lease_seconds: leaseSeconds }).optional(),
      answers: { 200: { description: "The lease.", schema: Lease } },
      handler: async (request) => {
        const fencingToken = requiredToken(request, request.body?.fencing_token);
        return ok(
          await workflows.renewLease(request.caller, request.params.wid, {
            fencingToken,
            leaseSeconds: request.body?.lease_seconds,
          }),
        );
      },
    }),
    defineRoute({
      ...shared,
      method: "DELETE",
      operationId: "releaseLease",
      summary: "Release the lease",
      query: z.object(fencing),
      answers: { 204: { description: "The lease is free." } },
      handler: async (request) => {
        await workflows.releaseLease(request.caller, request.params.wid, { fencingToken: requiredToken(request) });
        return noContent();
      },
    }),
  ];
}
