/** Everything held about a subject, over HTTP (R-AGT-71); for admins. */
import { erasureSubjectTypes, subjectExportStates } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { ErasurePaths, ErasureSubject, pageOf, shape } from "../../contract/index.ts";
import type { Governance } from "../../governance/index.ts";
import type { ByteRange } from "../../ports/object-store.ts";
import { accepted, defineRoute, HttpError, noContent, ok, type Answer, type Route } from "../framework/index.ts";
import { id, paging } from "./schemas.ts";

const tag = "governance";
const params = z.object({ export: id.describe("Id of the export.") });
const count = z.number();

const SubjectExport = shape<wire.SubjectExport>()(
  z
    .object({
      export_id: z.string(),
      workspace_id: z.string(),
      subject: z.object({ type: z.enum(erasureSubjectTypes), id: z.string() }),
      state: z.enum(subjectExportStates),
      error: z.string().nullable(),
      parts: z
        .array(z.object({ part: count.describe("Counted from 1."), bytes: count, sha256: z.string(), files: count }))
        .describe("Zip archives; empty until the export is ready. `manifest.json` is in the last one."),
      rows: z
        .array(z.object({ store: z.string(), own: count, mentions: count.describe("Rows of others that mention it.") }))
        .describe("By container."),
      created_by: z.string(),
      created_at: z.string(),
      finished_at: z.string().nullable(),
      expires_at: z.string().describe("Then it is removed."),
    })
    .meta({ id: "SubjectExport" }),
);

export function subjectExportRoutes({ subjectExports }: Governance): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/subjects:export",
      operationId: "createSubjectExport",
      summary: "Write everything held about a subject into archives",
      description: "For admins. 404 where nothing names the subject. The archives can be downloaded for seven days.",
      tag,
      auth: "caller",
      idempotent: true,
      body: z.strictObject({ subject: ErasureSubject, paths: ErasurePaths }),
      answers: { 202: { description: "The export; its state says how far it is.", schema: SubjectExport } },
      handler: async ({ caller, body }) => {
        const started = await subjectExports.request(caller, body);
        return accepted(started, { location: `/v1/subject-exports/${started.export_id}` });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/subject-exports",
      operationId: "listSubjectExports",
      summary: "Exports of subjects in this workspace, newest first",
      tag,
      auth: "caller",
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(SubjectExport) } },
      handler: async ({ caller, query }) => ok(await subjectExports.list(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/subject-exports/{export}",
      operationId: "getSubjectExport",
      summary: "An export: its state, its parts and their hashes",
      tag,
      auth: "caller",
      params,
      answers: { 200: { description: "The export.", schema: SubjectExport } },
      handler: async ({ caller, params: { export: exportId } }) => ok(await subjectExports.get(caller, exportId)),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/subject-exports/{export}",
      operationId: "deleteSubjectExport",
      summary: "Remove an export before it expires",
      tag,
      auth: "caller",
      params,
      answers: { 204: { description: "Removed." } },
      handler: async ({ caller, params: { export: exportId } }) => {
        await subjectExports.delete(caller, exportId);
        return noContent();
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/subject-exports/{export}/parts/{part}",
      operationId: "getSubjectExportPart",
      summary: "One archive, or the rest of it",
      description: "`Range: bytes=N-` continues an interrupted download.",
      tag,
      auth: "caller",
      params: params.extend({ part: z.coerce.number().int().min(1).describe("Counted from 1.") }),
      answers: {
        200: { description: "The archive.", contentType: "application/zip" },
        206: { description: "The requested bytes.", contentType: "application/zip" },
      },
      errors: { 416: { description: "The range starts after the last byte, or does not have the form bytes=N-M." } },
      handler: async ({ caller, params: { export: exportId, part }, header }) => {
        const range = readRange(header("range"));
        const archive = await subjectExports.part(caller, exportId, part, range);
        return archiveAnswer(archive, range, `${exportId}-${part}.zip`);
      },
    }),
  ];
}

function archiveAnswer(
  { bytes, body }: { readonly bytes: number; readonly body: AsyncIterable<Uint8Array> },
  range: ByteRange | undefined,
  name: string,
): Answer<never> {
  const end = Math.min(range?.end ?? bytes, bytes);
  const start = range?.start ?? 0;
  if (start >= end) throw unsatisfiable(bytes);
  return {
    status: range === undefined ? 200 : 206,
    stream: body,
    contentType: "application/zip",
    headers: {
      "accept-ranges": "bytes",
      "content-length": String(end - start),
      "content-disposition": `attachment; filename="${name}"`,
      ...(range === undefined ? {} : { "content-range": `bytes ${start}-${end - 1}/${bytes}` }),
    },
  };
}

function readRange(text: string | undefined): ByteRange | undefined {
  if (text === undefined) return undefined;
  const [, start, end] = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(text.trim()) ?? [];
  if (start === undefined) throw unsatisfiable();
  const range = end === undefined ? { start: Number(start) } : { start: Number(start), end: Number(end) + 1 };
  if (range.end !== undefined && range.end <= range.start) throw unsatisfiable();
  return range;
}

function unsatisfiable(bytes?: number): HttpError {
  return new HttpError("INVALID", "Range: must be bytes=N- or bytes=N-M, with N before the end of the archive.", {
    status: 416,
    ...(bytes === undefined ? {} : { headers: { "content-range": `bytes */${bytes}` } }),
  });
}
