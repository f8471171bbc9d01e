/** Erasures, their receipts and legal holds over HTTP; for admins. */
import { erasureStates, erasureSubjectTypes, holdScopeTypes } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { ErasurePaths, ErasureSubject, jsonObject, pageOf, shape } from "../../contract/index.ts";
import type { Governance } from "../../governance/index.ts";
import { accepted, created, defineRoute, noContent, ok, type Route } from "../framework/index.ts";
import { id, paging } from "./schemas.ts";

const tag = "governance";
const erasureParams = z.object({ xid: id.describe("Id of the erasure.") });
const holdParams = z.object({ hid: id.describe("Id of the hold.") });

const count = z.number();
const Erasure = shape<wire.Erasure>()(
  z
    .object({
      erasure_id: z.string(),
      workspace_id: z.string(),
      workspaces: z.array(z.string()),
      state: z
        .enum(erasureStates)
        .describe(
          "`done_live`: nothing is left in the live stores. `held`: only data under a legal hold is left. `counted`: a dry run.",
        ),
      subject: z.object({ type: z.enum(erasureSubjectTypes), hmac: z.string().describe("The id as a keyed hash.") }),
      dry_run: z.boolean(),
      stores: z.array(
        z.object({
          store: z.string(),
          found: count,
          deleted: count,
          redacted: count,
          anonymised: count,
          held: count,
          remaining: count
            .nullable()
            .describe("At the last count, without data under a hold; null before the first count."),
        }),
      ),
      holds: z.array(z.string()).describe("Holds that prevent part of the erasure."),
      attempts: count,
      error: z.string().nullable().describe("Why the last attempt ended; it is retried automatically."),
      receipt_id: z.string().nullable(),
      last_backup_expires_at: z.string().nullable().describe("Null: Pinakes makes no backups yet."),
      created_by: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
      finished_at: z.string().nullable(),
    })
    .meta({ id: "Erasure" }),
);
const Receipt = shape<wire.ErasureReceipt>()(
  z
    .object({
      receipt_id: z.string(),
      erasure_id: z.string(),
      sequence: count,
      jws: z.string().describe("Compact JWS, Ed25519. `pinakes receipts verify` checks it without a server."),
      content: jsonObject().describe("Human-readable copy; only the JWS is signed."),
      public_key: z.string().describe("SPKI in PEM."),
    })
    .meta({ id: "ErasureReceipt" }),
);
const ReceiptKey = shape<wire.ErasureReceiptKey>()(
  z
    .object({
      key_id: z.string().describe("As receipts name it."),
      public_key: z.string().describe("SPKI in PEM."),
    })
    .meta({ id: "ErasureReceiptKey" }),
);
const Verification = shape<wire.ErasureVerification>()(
  z.object({
    erasure_id: z.string(),
    remaining: count,
    stores: z.array(z.object({ store: z.string(), remaining: count })),
    receipt: z.object({ valid: z.boolean(), reason: z.string().nullable() }),
  }),
);

const HoldScope = z.strictObject({
  type: z.enum(holdScopeTypes),
  id: z.string().optional().describe("For a user, an agent or a session."),
  repository_id: z.string().optional().describe("For a collection."),
  collection_id: z.string().optional(),
  container: z.string().optional().describe("For a query."),
  filter: jsonObject().optional().describe("For a query: a filter on the container's documents."),
});
const Hold = shape<wire.LegalHold>()(
  z
    .object({
      hold_id: z.string(),
      workspace_id: z.string(),
      scope: HoldScope,
      reason: z.string(),
      matched: count.describe("Number of rows that it matched at creation."),
      created_by: z.string(),
      created_at: z.string(),
    })
    .meta({ id: "LegalHold" }),
);

export function governanceRoutes({ erasures, holds }: Governance): readonly Route[] {
  return [...erasureRoutes(erasures), ...receiptRoutes(erasures), ...holdRoutes(holds)];
}

function erasureRoutes(erasures: Governance["erasures"]): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/erasures",
      operationId: "createErasure",
      summary: "Erase everything that names a subject from every store, or only count it",
      description:
        "Admins only. 404 if nothing names the subject. With `dry_run` the response has the counts; otherwise the erasure continues in the background and survives crashes.",
      tag,
      auth: "caller",
      idempotent: true,
      audit: "erase",
      body: z.strictObject({
        subject: ErasureSubject,
        dry_run: z.boolean().optional().describe("Count without changing anything."),
        paths: ErasurePaths,
        workspaces: z.array(z.string()).optional().describe("Another workspace; only with the root token."),
        scrub: z
          .boolean()
          .optional()
          .describe(
            "Rewrite the engine's files. Default: true on SQLite, false on PostgreSQL, where it locks each table.",
          ),
      }),
      answers: { 202: { description: "The erasure; its state shows the progress.", schema: Erasure } },
      handler: async ({ auth, caller, body }) => {
        const erasure = await erasures.request(caller, body, { mayTouchAll: auth.via === "root" });
        return accepted(erasure, { location: `/v1/erasures/${erasure.erasure_id}` });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/erasures",
      operationId: "listErasures",
      summary: "List the erasures requested in this workspace, newest first",
      tag,
      auth: "caller",
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(Erasure) } },
      handler: async ({ caller, query }) => ok(await erasures.list(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/erasures/{xid}",
      operationId: "getErasure",
      summary: "Get an erasure: its state, and counts per store",
      tag,
      auth: "caller",
      params: erasureParams,
      answers: { 200: { description: "The erasure.", schema: Erasure } },
      handler: async ({ caller, params }) => ok(await erasures.get(caller, params.xid)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/erasures/{xid}:verify",
      operationId: "verifyErasure",
      summary: "Count again, and verify the receipt",
      description: "The erasure no longer stores the id of the subject, so the request must contain it.",
      tag,
      auth: "caller",
      params: erasureParams,
      body: z.strictObject({ subject: ErasureSubject, paths: ErasurePaths }),
      answers: { 200: { description: "Remaining data; 0 if nothing reappeared.", schema: Verification } },
      handler: async ({ caller, params, body }) =>
        ok(await erasures.verify(caller, params.xid, body.subject, body.paths)),
    }),
  ];
}

function receiptRoutes(erasures: Governance["erasures"]): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/erasures/{xid}/receipt",
      operationId: "getErasureReceipt",
      summary: "Get the signed receipt of an erasure",
      tag,
      auth: "caller",
      params: erasureParams,
      answers: { 200: { description: "The receipt, and the key that verifies it.", schema: Receipt } },
      handler: async ({ caller, params }) => ok(await erasures.receipt(caller, params.xid)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/erasure-receipts",
      operationId: "listErasureReceipts",
      summary: "List the chain of receipts of this workspace, oldest first",
      tag,
      auth: "caller",
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(Receipt) } },
      handler: async ({ caller, query }) => ok(await erasures.receipts(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/erasure-receipts/key",
      operationId: "getErasureReceiptKey",
      summary: "The public key that verifies receipts of this instance",
      description:
        "Note it when you set the server up: who verifies a receipt should not have the key from its issuer.",
      tag,
      auth: "caller",
      answers: { 200: { description: "The key.", schema: ReceiptKey } },
      handler: async ({ caller }) => ok(await erasures.receiptKey(caller)),
    }),
  ];
}

function holdRoutes(holds: Governance["holds"]): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/legal-holds",
      operationId: "createLegalHold",
      summary: "Protect matching data from expiry, purges and erasures",
      description: "Admins only. 404 if nothing matches.",
      tag,
      auth: "caller",
      idempotent: true,
      body: z.strictObject({ scope: HoldScope, reason: z.string() }),
      answers: { 201: { description: "The active hold.", schema: Hold } },
      handler: async ({ caller, body }) => {
        const hold = await holds.create(caller, body);
        return created(hold, { location: `/v1/legal-holds/${hold.hold_id}` });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/legal-holds",
      operationId: "listLegalHolds",
      summary: "List active holds; at most 100",
      tag,
      auth: "caller",
      answers: { 200: { description: "All active holds.", schema: z.object({ items: z.array(Hold) }) } },
      handler: async ({ caller }) => ok({ items: await holds.list(caller) }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/legal-holds/{hid}",
      operationId: "getLegalHold",
      summary: "One hold",
      tag,
      auth: "caller",
      params: holdParams,
      answers: { 200: { description: "The hold.", schema: Hold } },
      handler: async ({ caller, params }) => ok(await holds.get(caller, params.hid)),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/legal-holds/{hid}",
      operationId: "releaseLegalHold",
      summary: "End a hold; erasures that it blocked resume",
      tag,
      auth: "caller",
      params: holdParams,
      answers: { 204: { description: "Released." } },
      handler: async ({ caller, params }) => {
        await holds.release(caller, params.hid);
        return noContent();
      },
    }),
  ];
}
