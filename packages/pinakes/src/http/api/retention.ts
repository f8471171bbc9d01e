/** How long a workspace keeps what (R-AGT-63). Read by everyone, changed by admins. */
import { retentionKinds } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import type { Governance } from "../../governance/index.ts";
import { shape } from "../../contract/index.ts";
import { defineRoute, ok, type Route } from "../framework/index.ts";
import { id } from "./schemas.ts";

const tag = "governance";
const seconds = z
  .number()
  .nullable()
  .describe("From the last change, or from the deletion. -1: only documents with a `ttl` expire. null: never.");
const params = z.object({ c: id.describe("A container, `trash`, or what a setting governs.") });
const count = z.number();

const Rule = shape<wire.RetentionRule>()(
  z
    .object({
      name: z.string(),
      kind: z.enum(retentionKinds),
      seconds,
      default_seconds: seconds,
      unit: z.string().describe("What expires together."),
      changeable: z.boolean(),
      setting: z.string().nullable().describe("The operator's setting that governs it, or its default."),
    })
    .meta({ id: "RetentionRule" }),
);

const Preview = shape<wire.RetentionPreview>()(
  z
    .object({
      name: z.string(),
      seconds,
      current_seconds: seconds,
      would_expire: count.describe("Documents that would expire at once."),
      held: count.describe("Those of them that a legal hold keeps."),
      would_stay: count.describe("Documents without a `ttl` of their own that stay for now."),
      examples: z.array(z.string()).describe("Ids of documents that would expire; at most ten."),
      confirmation: z.string().describe("Confirms this change for an hour."),
    })
    .meta({ id: "RetentionPreview" }),
);

export function retentionRoutes({ retention }: Governance): readonly Route[] {
  const common = { tag, auth: "caller" } as const;
  return [
    defineRoute({
      ...common,
      method: "GET",
      path: "/v1/retention",
      operationId: "listRetention",
      summary: "How long containers, the trash and earlier versions are kept",
      answers: { 200: { description: "All rules.", schema: z.object({ items: z.array(Rule) }) } },
      handler: async ({ caller }) => ok({ items: await retention.list(caller) }),
    }),
    defineRoute({
      ...common,
      method: "GET",
      path: "/v1/retention/{c}",
      operationId: "getRetention",
      summary: "One of them",
      params,
      answers: { 200: { description: "The rule.", schema: Rule } },
      handler: async ({ caller, params: { c } }) => ok(await retention.get(caller, c)),
    }),
    defineRoute({
      ...common,
      method: "PUT",
      path: "/v1/retention/{c}",
      operationId: "setRetention",
      summary: "Change how long something is kept",
      description:
        "For admins. Applies to existing documents; those with a `ttl` keep it. A shorter lifetime needs the `confirmation` of a preview; 409 without.",
      params,
      body: z.strictObject({ seconds, confirmation: z.string().max(64).optional() }),
      answers: { 200: { description: "The rule as it is now.", schema: Rule } },
      handler: async ({ caller, params: { c }, body }) => ok(await retention.set(caller, c, body)),
    }),
    defineRoute({
      ...common,
      method: "POST",
      path: "/v1/retention:preview",
      operationId: "previewRetention",
      summary: "Count what a change would expire",
      description: "For admins. Nothing changes. It reads every document of the container.",
      readOnlyOk: true,
      body: z.strictObject({ name: z.string(), seconds }),
      answers: { 200: { description: "The counts, and what confirms the change.", schema: Preview } },
      handler: async ({ caller, body }) => ok(await retention.preview(caller, body.name, body.seconds)),
    }),
  ];
}
