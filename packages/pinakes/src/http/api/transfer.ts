/** Grants over HTTP: uploads and downloads by link, without a key. */
import { z } from "zod";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, created, defineRoute, ok, queryInteger, type Route } from "../framework/index.ts";
import { fileAnswer } from "./documents.ts";
import { accessInput, chunkingInput, cid, did, Document, rid } from "./schemas.ts";

const Grant = z
  .object({ url: z.string(), expires_at: z.string(), expires_in_seconds: z.number() })
  .meta({ id: "Grant" });
const token = z.string().min(1).max(256);

export function transferRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/repositories/{rid}/collections/{cid}/uploads",
      operationId: "grantUpload",
      summary: "Create a link to upload one file, once, without a key",
      description: "The file gets the name of the grant, and belongs to the user who created the grant.",
      tag: "transfer",
      auth: "caller",
      params: z.object({ rid, cid }),
      body: z.strictObject({
        name: z.string(),
        metadata: z.record(z.string(), z.json()).optional(),
        ...accessInput,
        chunking_strategy: chunkingInput.optional(),
        replace: z.boolean().optional(),
        expires_in_seconds: z.number().int().optional().describe("Default 300, maximum 900."),
      }),
      answers: { 201: { description: "The link: PUT the bytes there.", schema: Grant } },
      handler: async ({ caller, params: p, body }) =>
        created(await knowledge.grants.upload(caller, p.rid, p.cid, body)),
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/uploads/{token}",
      operationId: "useUploadGrant",
      summary: "Upload a file by a link",
      tag: "transfer",
      auth: "public",
      params: z.object({ token }),
      body: { raw: ["*/*"] },
      answers: { 202: { description: "The document, pending ingestion.", schema: Document } },
      handler: async ({ params: p, body }) => accepted(await knowledge.grants.useUpload(p.token, body.stream)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/repositories/{rid}/collections/{cid}/documents/{did}/download",
      operationId: "grantDownload",
      summary: "Create a link to download a file without a key",
      tag: "transfer",
      auth: "caller",
      params: z.object({ rid, cid, did }),
      query: z.object({
        expires_in_seconds: queryInteger().optional().describe("Default 300, maximum 900."),
        version: queryInteger().optional(),
      }),
      answers: { 200: { description: "The link.", schema: Grant } },
      handler: async ({ caller, params: p, query }) =>
        ok(await knowledge.grants.download(caller, p.rid, p.cid, p.did, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/downloads/{token}",
      operationId: "useDownloadGrant",
      summary: "Download a file by a link",
      tag: "transfer",
      auth: "public",
      params: z.object({ token }),
      answers: { 200: { description: "The file.", contentType: "application/octet-stream" } },
      handler: async ({ params: p }) => fileAnswer(await knowledge.grants.useDownload(p.token)),
    }),
  ];
}
