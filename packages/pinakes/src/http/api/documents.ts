/** Documents over HTTP. */
import { documentStatuses, sortOrders } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { pageOf, shape } from "../../contract/index.ts";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { uploadedFrom, type Knowledge, type UploadedDocument, type UploadInput } from "../../knowledge/index.ts";
import {
  accepted,
  defineRoute,
  noContent,
  ok,
  queryFlag,
  queryInteger,
  type Answer,
  type Route,
} from "../framework/index.ts";
import { sessionsOf, sessionTokenHeader } from "../session-token.ts";
import type { FilePart, Part } from "../framework/body/multipart.ts";
import { documentTextRoutes } from "./document-text.ts";
import { accessInput, chunkingInput, cid, did, Document, Job, paging, rid } from "./schemas.ts";

const all = "/v1/repositories/{rid}/collections/{cid}/documents";
const one = `${all}/{did}`;
const params = z.object({ rid, cid, did });

const Passage = shape<wire.Chunk, "page" | "section">()(
  z
    .looseObject({ chunk_id: z.string(), index: z.number(), text: z.string(), start: z.number(), end: z.number() })
    .meta({ id: "Passage" }),
);
const Version = shape<wire.DocumentVersion, "uploaded_at" | "uploaded_by">()(
  z
    .looseObject({ version: z.number(), size_bytes: z.number(), sha256: z.string(), live: z.boolean() })
    .meta({ id: "Version" }),
);
const UploadAnswer = z.object({
  job_id: z.string().nullable(),
  documents: z.array(Document),
  errors: z.array(z.looseObject({ name: z.string(), code: z.string(), detail: z.string() })),
});

const TextDocument = z.strictObject({
  name: z.string(),
  text: z.string(),
  metadata: z.record(z.string(), z.json()).optional(),
  ...accessInput,
  chunking_strategy: chunkingInput.optional(),
  replace: z.boolean().optional(),
  path: z.string().optional(),
});

export function documentRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    uploadRoute(knowledge),
    ...readRoutes(knowledge),
    ...partRoutes(knowledge),
    ...documentTextRoutes(knowledge),
    ...changeRoutes(knowledge),
  ];
}

/** Each file succeeds or fails independently: errors are listed beside the accepted files. A single refused file is an error of the request. */
function uploadRoute(knowledge: Knowledge): Route {
  return defineRoute({
    method: "POST",
    path: all,
    operationId: "uploadDocuments",
    summary: "Upload documents: files in a form, or one text as JSON",
    description:
      "Fields of the form apply to the files after them: `metadata`, `chunking_strategy`, `allowed_groups`, `allowed_users` and `sensitivity` (JSON), `replace` (true); `path` to the next file only. A file whose name is in use is refused unless replace is true, which replaces the document atomically.",
    tag: "documents",
    auth: "caller",
    params: z.object({ rid, cid }),
    body: {
      multipart: true,
      json: TextDocument,
      fields: {
        file: { description: "A file; repeat for several, each up to 50 MB.", file: true, required: true },
        metadata: { description: "JSON; searches can filter by it." },
        chunking_strategy: { description: "JSON; if the collection allows an override." },
        allowed_groups: { description: "JSON; groups of the collection that may see the files, or null." },
        allowed_users: { description: "JSON; users that may see the files, beside the groups, or null." },
        sensitivity: { description: "JSON; labels that readers must be cleared for." },
        replace: { description: "true: replace the document with the same name." },
        path: {
          description:
            "a/x.md: the path in the folder of the next file. Files with the same name and different paths are different documents.",
        },
      },
    },
    answers: { 202: { description: "The accepted documents, pending ingestion.", schema: UploadAnswer } },
    handler: async ({ caller, params: { rid: repository, cid: collection }, body }) => {
      const { job_id, result } = await knowledge.documents.uploadMany(caller, repository, collection, async (take) => {
        if (body.kind !== "json") return uploadForm(body.parts(), take);
        const { text, path, ...rest } = body.value;
        return { documents: [await take({ ...rest, ...uploadedFrom(path), body: textBody(text) })], errors: [] };
      });
      return accepted({ job_id, ...result });
    },
  });
}

interface Uploaded {
  readonly documents: readonly UploadedDocument[];
  readonly errors: readonly { readonly name: string; readonly code: string; readonly detail: string }[];
}

async function uploadForm(
  parts: AsyncIterable<Part>,
  take: (input: UploadInput) => Promise<UploadedDocument>,
): Promise<Uploaded> {
  const documents: UploadedDocument[] = [];
  const errors: { name: string; code: string; detail: string }[] = [];
  let failure: PinakesError | undefined;
  const refuse = (name: string, error: unknown): void => {
    if (!PinakesError.isInstance(error) || error.status >= 500) throw error;
    failure ??= error;
    errors.push({ name, code: error.code, detail: error.detail });
  };
  const settings: FormSettings = {};
  let unused: string | undefined;
  try {
    for await (const part of parts) {
      if (part.kind === "field") {
        readField(settings, part.name, part.value);
        unused = part.name;
      } else {
        unused = undefined;
        const input = fileInput(part, settings);
        delete settings.path;
        await take(input).then(
          (document) => documents.push(document),
          (error: unknown) => refuse(part.filename, error),
        );
      }
    }
    if (unused !== undefined && documents.length + errors.length > 0)
      throw invalid(`${unused}: no file follows it. Fields apply to the files after them, so send fields first.`);
  } catch (error) {
    // From here on the form itself is invalid. Files accepted before stay, so the response must name them.
    if (documents.length === 0) throw error;
    refuse("form", error);
  }
  if (documents.length === 0 && errors.length === 0)
    throw invalid("The form has no file. Send at least one part with a filename.");
  // A single refused file is the error of the response.
  if (documents.length === 0 && errors.length === 1 && failure !== undefined) throw failure;
  return { documents, errors };
}

interface FormSettings {
  metadata?: unknown;
  chunking_strategy?: unknown;
  allowed_groups?: unknown;
  allowed_users?: unknown;
  sensitivity?: unknown;
  replace?: boolean;
  /** Applies to the next file only: it determines which document that is. */
  path?: string;
}

const jsonFields = ["metadata", "chunking_strategy", "allowed_groups", "allowed_users", "sensitivity"] as const;

function isJsonField(name: string): name is (typeof jsonFields)[number] {
  return (jsonFields as readonly string[]).includes(name);
}

function readField(settings: FormSettings, name: string, value: string): void {
  if (isJsonField(name)) {
    try {
      settings[name] = JSON.parse(value) as unknown;
    } catch (error) {
      throw invalid(`${name}: must be JSON.`, { cause: error });
    }
  } else if (name === "replace") {
    if (value !== "true" && value !== "false") throw invalid('replace: must be "true" or "false".');
    settings.replace = value === "true";
  } else if (name === "path") settings.path = value;
  else
    throw invalid(
      `${name}: is not a field of this form; known fields are ${jsonFields.join(", ")}, replace and path, each before the files it applies to.`,
    );
}

function fileInput(part: FilePart, { path, ...settings }: FormSettings): UploadInput {
  return { name: part.filename, body: part.stream, ...settings, ...uploadedFrom(path) };
}

async function* textBody(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, "utf8");
}

function readRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: all,
      operationId: "listDocuments",
      summary: "List the documents of a collection, newest first",
      tag: "documents",
      auth: "caller",
      params: z.object({ rid, cid }),
      query: z.object({
        status: z.enum(documentStatuses).optional(),
        q: z.string().optional().describe("In the name."),
        order: z.enum(sortOrders).optional(),
        include_total: queryFlag().optional().describe("Adds the total number over all pages."),
        ...paging,
      }),
      answers: { 200: { description: "A page.", schema: pageOf(Document) } },
      handler: async ({ caller, params: p, query, header }) =>
        ok(
          await knowledge.documents.list(caller, p.rid, p.cid, {
            ...query,
            session: sessionsOf(header(sessionTokenHeader), "documents"),
          }),
        ),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/repositories/{rid}/collections/{cid}/documents",
      operationId: "deleteDocuments",
      summary: "Delete all documents of a collection; the collection stays",
      tag: "documents",
      auth: "caller",
      params: z.object({ rid, cid }),
      query: z.object({ confirm: z.string().optional().describe("The id of the collection.") }),
      answers: { 202: { description: "The job.", schema: Job } },
      handler: async ({ caller, params: p, query }) => {
        const job = await knowledge.documents.deleteAll(caller, p.rid, p.cid, query.confirm);
        return accepted(job, { location: `/v1/jobs/${job.job_id}` });
      },
    }),
    defineRoute({
      method: "GET",
      path: one,
      operationId: "getDocument",
      summary: "A document",
      tag: "documents",
      auth: "caller",
      params,
      answers: { 200: { description: "The document.", schema: Document } },
      handler: async ({ caller, params: p }) => {
        const document = await knowledge.documents.get(caller, p.rid, p.cid, p.did);
        return ok(document, { etag: document.etag });
      },
    }),
    defineRoute({
      method: "GET",
      path: `${one}/content`,
      operationId: "getDocumentContent",
      summary: "Download the bytes of a document",
      tag: "documents",
      auth: "caller",
      params,
      query: z.object({ version: queryInteger().optional() }),
      answers: { 200: { description: "The file.", contentType: "application/octet-stream" } },
      handler: async ({ caller, params: p, query }) =>
        fileAnswer(await knowledge.documents.content(caller, p.rid, p.cid, p.did, query.version)),
    }),
  ];
}

function partRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: `${one}/chunks`,
      operationId: "listPassages",
      summary: "List the chunks of a document that searches show, in text order",
      tag: "documents",
      auth: "caller",
      params,
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(Passage) } },
      handler: async ({ caller, params: p, query }) =>
        ok(await knowledge.documents.passages(caller, p.rid, p.cid, p.did, query)),
    }),
    defineRoute({
      method: "GET",
      path: `${one}/versions`,
      operationId: "listVersions",
      summary: "List the versions of a document whose bytes are stored, newest first",
      tag: "documents",
      auth: "caller",
      params,
      answers: { 200: { description: "All stored versions.", schema: z.object({ items: z.array(Version) }) } },
      handler: async ({ caller, params: p }) =>
        ok({ items: await knowledge.documents.versions(caller, p.rid, p.cid, p.did) }),
    }),
  ];
}

function changeRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "DELETE",
      path: one,
      operationId: "deleteDocument",
      summary: "Delete a document with its chunks and bytes",
      tag: "documents",
      auth: "caller",
      conditional: true,
      params,
      answers: { 204: { description: "Searches no longer show it." } },
      handler: async ({ caller, params: p, ifMatch }) => {
        await knowledge.documents.delete(caller, p.rid, p.cid, p.did, ifMatch);
        return noContent();
      },
    }),
    defineRoute({
      method: "PATCH",
      path: one,
      operationId: "changeDocumentAccess",
      summary: "Change who may see a document",
      description:
        "Narrows the access to the collection, for everything of the document: chunks, citations, versions, links, events, and triples that it alone supports. Absent fields stay as they are. Users of the collection who are excluded get the answers of a collection without the document, from the next request on. For the uploader and for those with ADMIN access to the collection, who always see it.",
      tag: "documents",
      auth: "caller",
      conditional: true,
      params,
      body: z.strictObject(accessInput),
      answers: { 200: { description: "The document.", schema: Document } },
      handler: async ({ caller, params: p, body, ifMatch }) => {
        const document = await knowledge.documents.setAccess(caller, p.rid, p.cid, p.did, body, ifMatch);
        return ok(document, { etag: document.etag });
      },
    }),
    defineRoute({
      method: "POST",
      path: `${one}:reindex`,
      operationId: "reindexDocument",
      summary: "Retry a failed document, or chunk and embed an indexed one again",
      tag: "documents",
      auth: "caller",
      params,
      answers: { 202: { description: "The document, pending ingestion.", schema: Document } },
      handler: async ({ caller, params: p }) =>
        accepted(await knowledge.documents.reindex(caller, p.rid, p.cid, p.did)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/chunking:preview",
      operationId: "previewChunking",
      summary: "Preview how a text would be chunked; nothing is stored",
      tag: "documents",
      auth: "caller",
      readOnlyOk: true,
      limits: { bodyBytesMax: 4 * 1_048_576 },
      body: z.strictObject({ text: z.string(), chunking_strategy: chunkingInput, markdown: z.boolean().optional() }),
      answers: {
        200: {
          description: "The passages.",
          schema: z.object({
            chunks: z.array(z.looseObject({ index: z.number(), text: z.string() })),
            count: z.number(),
          }),
        },
      },
      handler: async ({ caller, body }) => {
        const { text, chunking_strategy, markdown = false } = body;
        const chunks = await knowledge.search.previewChunking(caller, { text, chunking_strategy, markdown });
        return ok({ chunks, count: chunks.length });
      },
    }),
  ];
}

/** Served as a download, never rendered: uploads may be HTML pages with scripts. */
export function fileAnswer({
  document,
  version,
  body,
}: Awaited<ReturnType<Knowledge["documents"]["content"]>>): Answer<never> {
  const plain = document.name.replaceAll(/[^\w .()-]/g, "_");
  // RFC 8187 allows fewer unescaped characters than encodeURIComponent leaves.
  const encoded = encodeURIComponent(document.name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    status: 200,
    stream: body,
    contentType: "application/octet-stream",
    headers: {
      "content-length": String(version.size_bytes),
      "content-disposition": `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
      digest: `sha-256=${Buffer.from(version.sha256, "hex").toString("base64")}`,
    },
  };
}
