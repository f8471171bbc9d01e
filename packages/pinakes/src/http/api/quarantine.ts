/** The quarantine over HTTP: data that repairs removed, and its restore. */
import { quarantineKinds } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { defineRoute, noContent, ok, type Route } from "../framework/index.ts";
import { id, paging } from "./schemas.ts";

const QuarantineEntry = shape<wire.QuarantineEntry>()(
  z
    .object({
      entry_id: z.string(),
      kind: z.enum(quarantineKinds),
      store: z.string(),
      repository_id: z.string().describe("Empty if no record names the collection."),
      collection_id: z.string(),
      incarnation: z.string(),
      document_id: z.string().nullable(),
      target: z.string().describe("The key of the file, the name of the vectors, or the source of the triples."),
      detail: z.string(),
      count: z.number().describe("Files, chunks, triples or rows."),
      bytes: z.number().describe("Size of the copy; 0 if the data stays in place."),
      job_id: z.string().nullable().describe("The repair that removed it."),
      quarantined_at: z.string(),
      expires_at: z.string(),
      restored_at: z.string().nullable(),
    })
    .meta({ id: "QuarantineEntry" }),
);

const params = z.object({ qid: id.describe("Id of the entry.") });

export function quarantineRoutes({ quarantine }: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/quarantine",
      operationId: "listQuarantine",
      summary: "List data that repairs removed",
      description: "Admins only. Entries expire after 30 days (PINAKES_QUARANTINE_DAYS).",
      tag: "operation",
      auth: "caller",
      query: z.strictObject({
        ...paging,
        repository: z.string().optional().describe("With `collection`."),
        collection: z.string().optional().describe("Only entries of this collection."),
      }),
      answers: {
        200: {
          description: "Up to 100 entries.",
          schema: z.object({ items: z.array(QuarantineEntry), next_cursor: z.string().nullable() }),
        },
      },
      handler: async ({ caller, query }) => ok(await quarantine.list(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/quarantine/{qid}",
      operationId: "getQuarantineEntry",
      summary: "Get an entry of the quarantine",
      tag: "operation",
      auth: "caller",
      params,
      answers: { 200: { description: "The entry.", schema: QuarantineEntry } },
      handler: async ({ caller, params: p }) => ok(await quarantine.get(caller, p.qid)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/quarantine/{qid}:restore",
      operationId: "restoreQuarantineEntry",
      summary: "Restore an entry to its original location",
      description: "Admins only. Idempotent. 409 if the location is in use, or its collection does not accept it.",
      tag: "operation",
      auth: "caller",
      params,
      answers: { 200: { description: "The entry, which stays until it expires.", schema: QuarantineEntry } },
      handler: async ({ caller, params: p }) => ok(await quarantine.restore(caller, p.qid)),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/quarantine/{qid}",
      operationId: "dropQuarantineEntry",
      summary: "Permanently remove an entry before it expires",
      tag: "operation",
      auth: "caller",
      params,
      answers: { 204: { description: "Gone." } },
      handler: async ({ caller, params: p }) => {
        await quarantine.drop(caller, p.qid);
        return noContent();
      },
    }),
  ];
}
