/** The audit log over HTTP. */
import { auditFaces, auditFormats, auditOutcomes, auditVerbs } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { pageOf, shape } from "../../contract/index.ts";
import { AuditApi, type AuditLog } from "../../governance/index.ts";
import { defineRoute, ok, queryInteger, readAhead, type Route } from "../framework/index.ts";
import { paging } from "./schemas.ts";

const Subject = shape<wire.AuditSubject>()(
  z.object({
    token: z.string(),
    id: z.string().nullable().describe("Null after the subject was erased."),
  }),
);

const Entry = shape<wire.AuditEntry>()(
  z
    .object({
      index: z.number().describe("Its position in the log, from 0."),
      at: z.string(),
      verb: z.enum(auditVerbs),
      action: z.string().describe("The operation, tool or method."),
      outcome: z
        .enum(auditOutcomes)
        .describe(
          "`denied` also if the resource exists but is not visible to the caller; `failed`: the change may have been made.",
        ),
      status: z.number().nullable(),
      actor: Subject,
      acted_for: Subject.nullable(),
      role: z.string().nullable(),
      via: z.string().nullable(),
      key_id: z.string().nullable(),
      resource: z.string(),
      ids: z.record(z.string(), z.string()),
      face: z.enum(auditFaces),
      ip: z.string().nullable(),
      user_agent: z.string().nullable(),
      request_id: z.string().nullable(),
    })
    .meta({ id: "AuditEntry" }),
);

const Checkpoint = shape<wire.AuditCheckpoint>()(
  z
    .object({
      origin: z.string(),
      size: z.number(),
      root: z.string(),
      note: z.string().describe("A signed note (C2SP tlog-checkpoint), for witnesses and verifiers."),
      keys: z.array(z.string()).describe("The public keys that signed it."),
    })
    .meta({ id: "AuditCheckpoint" }),
);

const hashes = z.array(z.string()).describe("Base64, in the order of RFC 6962.");
const Inclusion = shape<wire.AuditInclusion>()(
  z.object({ index: z.number(), size: z.number(), leaf: z.string(), hashes }).meta({ id: "AuditInclusion" }),
);
const Consistency = shape<wire.AuditConsistency>()(
  z.object({ from: z.number(), size: z.number(), hashes }).meta({ id: "AuditConsistency" }),
);

const tag = "audit";
const log = z
  .enum(["workspace", "instance"])
  .optional()
  .describe("`instance`: entries without a workspace, such as failed sign-ins; only with the root token.");
const index = () => queryInteger({ min: 0 });
const size = index().optional().describe("Size of the tree; default: the whole tree.");

export function auditRoutes(audit: AuditLog): readonly Route[] {
  const api = new AuditApi(audit);
  const common = { method: "GET", tag, auth: "caller" } as const;
  return [
    defineRoute({
      ...common,
      path: "/v1/audit",
      operationId: "listAudit",
      summary: "List who did what, newest first; for admins and callers with the permission `audit`",
      description: "A page may have fewer entries than `limit`, or none, and still have a cursor.",
      query: z.object({
        ...paging,
        actor: z.string().optional().describe("A user id."),
        action: z.string().optional(),
        verb: z.enum(auditVerbs).optional(),
        outcome: z.enum(auditOutcomes).optional(),
        resource: z.string().optional().describe("A kind, such as `collections`, or an id: `kb`, `kb/papers`."),
        from: z.string().optional().describe("Start time, inclusive."),
        to: z.string().optional().describe("End time, exclusive."),
        log,
      }),
      answers: { 200: { description: "A page.", schema: pageOf(Entry) } },
      handler: async ({ auth, query }) => ok(await api.list(auth, query)),
    }),
    defineRoute({
      ...common,
      path: "/v1/audit/checkpoint",
      operationId: "getAuditCheckpoint",
      summary: "Get a signed checkpoint of the log, to keep or to pass to a witness",
      query: z.object({ log }),
      answers: { 200: { description: "The checkpoint.", schema: Checkpoint } },
      handler: async ({ auth, query }) => ok(await api.checkpoint(auth, query)),
    }),
    defineRoute({
      ...common,
      path: "/v1/audit/proofs/inclusion",
      operationId: "proveAuditInclusion",
      summary: "Prove that an entry is in the tree",
      query: z.object({ index: index(), size, log }),
      answers: { 200: { description: "The entry and its proof.", schema: Inclusion } },
      handler: async ({ auth, query }) => ok(await api.inclusion(auth, query)),
    }),
    defineRoute({
      ...common,
      path: "/v1/audit/proofs/consistency",
      operationId: "proveAuditConsistency",
      summary: "Prove that a smaller tree is a prefix of the tree",
      query: z.object({ from: index(), size, log }),
      answers: { 200: { description: "The proof.", schema: Consistency } },
      handler: async ({ auth, query }) => ok(await api.consistency(auth, query)),
    }),
    defineRoute({
      ...common,
      path: "/v1/audit:export",
      operationId: "exportAudit",
      summary: "Export the log as a file that `pinakes audit verify` checks offline",
      query: z.object({
        format: z.enum(auditFormats).optional(),
        first: index().optional(),
        end: index().optional(),
        log,
      }),
      answers: {
        200: { description: "The file, streamed.", contentType: "application/x-ndjson", alsoTypes: ["text/csv"] },
      },
      handler: async ({ auth, query }) => {
        const { format = "ndjson" } = query;
        return {
          status: 200,
          stream: await readAhead(api.export(auth, query)),
          contentType: format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson",
          headers: { "content-disposition": `attachment; filename="audit.${format}"` },
        };
      },
    }),
  ];
}
