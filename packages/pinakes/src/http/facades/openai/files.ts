/** Files: a user's own, by id. */
import { z } from "zod";
import { invalid } from "../../../domain/errors.ts";
import {
  fileLimits,
  filePurposes,
  type FileRecord,
  type FileSettings,
  type Knowledge,
} from "../../../knowledge/index.ts";
import { ok, queryInteger, type Part, type Route } from "../../framework/index.ts";
import { openAiRoute } from "./openai-route.ts";
import { list, listOf, seconds } from "./pages.ts";

/** The fields of a form besides its file. */
const formBytesMax = 65_536;

export const FileObject = z
  .object({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.number(),
    created_at: z.number(),
    expires_at: z.number().optional(),
    filename: z.string(),
    purpose: z.string(),
    status: z.enum(["uploaded", "processed", "error"]),
  })
  .meta({ id: "OpenAIFile" });

const params = z.object({ file: z.string().describe("Id of the file: `file-…`.") });

export function fileObject({ id, bytes, created_at, expires_at, filename, purpose }: FileRecord) {
  return {
    id,
    object: "file" as const,
    bytes,
    created_at: seconds(created_at),
    ...(expires_at === undefined ? {} : { expires_at: seconds(expires_at) }),
    filename,
    purpose,
    status: "processed" as const,
  };
}

export function fileRoutes({ files }: Pick<Knowledge, "files">): readonly Route[] {
  return [...creating(files), ...reading(files), ...deleting(files)];
}

function creating(files: Knowledge["files"]): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/files",
      operationId: "createOpenAIFile",
      summary: "Store a file, to attach it to vector stores",
      limits: { bodyBytesMax: fileLimits.bytesMax + formBytesMax },
      body: {
        multipart: true,
        fields: {
          file: { description: "The file, up to 512 MB; 50 MB to be attached.", file: true, required: true },
          purpose: { description: `One of ${filePurposes.join(", ")}.`, required: true },
          "expires_after[anchor]": { description: "created_at" },
          "expires_after[seconds]": { description: "3600–2592000." },
        },
        partLimits: { filesMax: 1, fieldsMax: 10, fieldBytesMax: 1_024 },
      },
      answers: { 200: { description: "The file.", schema: FileObject } },
      handler: async ({ caller, body }) => {
        if (body.kind !== "multipart") throw invalid("The body must be multipart/form-data.");
        const form = await readForm(body.parts(), "file");
        const { filename, stream } = form.file;
        const settings = async () => fileSettings(await form.rest());
        return ok(fileObject(await files.create(caller, { filename, body: stream, settings })));
      },
    }),
  ];
}

function reading(files: Knowledge["files"]): readonly Route[] {
  return [
    openAiRoute({
      method: "GET",
      path: "/openai/v1/files",
      operationId: "listOpenAIFiles",
      summary: "List the caller's files",
      query: z.object({
        purpose: z.enum(filePurposes).optional(),
        limit: queryInteger({ min: 1, max: fileLimits.pageItemsMax }).optional(),
        order: z.enum(["asc", "desc"]).optional(),
        after: z.string().optional(),
      }),
      answers: { 200: { description: "A page.", schema: listOf(FileObject) } },
      handler: async ({ caller, query }) => {
        const { items, more } = await files.list(caller, query);
        return ok(list(items.map(fileObject), more));
      },
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/files/{file}",
      operationId: "getOpenAIFile",
      summary: "A file",
      params,
      answers: { 200: { description: "The file.", schema: FileObject } },
      handler: async ({ caller, params: { file } }) => ok(fileObject(await files.get(caller, file))),
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/files/{file}/content",
      operationId: "getOpenAIFileContent",
      summary: "Get the bytes of a file",
      params,
      answers: { 200: { description: "The bytes.", contentType: "application/octet-stream" } },
      handler: async ({ caller, params: { file: id } }) => {
        const { file, body } = await files.content(caller, id);
        const headers = {
          "content-length": String(file.bytes),
          // Never rendered by a browser as a page of this server.
          "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
        };
        return { status: 200, stream: body, contentType: "application/octet-stream", headers };
      },
    }),
  ];
}

function deleting(files: Knowledge["files"]): readonly Route[] {
  return [
    openAiRoute({
      method: "DELETE",
      path: "/openai/v1/files/{file}",
      operationId: "deleteOpenAIFile",
      summary: "Delete a file, and remove it from all vector stores",
      params,
      answers: {
        200: {
          description: "The file was deleted.",
          schema: z.object({ id: z.string(), object: z.literal("file"), deleted: z.boolean() }),
        },
      },
      handler: async ({ caller, params: { file } }) => {
        await files.delete(caller, file);
        return ok({ id: file, object: "file", deleted: true });
      },
    }),
  ];
}

type Fields = Readonly<Record<string, string>>;

export interface Form {
  readonly file: { readonly filename: string; readonly stream: AsyncIterable<Uint8Array> };
  /** All fields; those after the file arrive after its bytes. */
  readonly rest: () => Promise<Fields>;
}

/** A form with one file, which clients send before or after its fields. */
export async function readForm(parts: AsyncGenerator<Part, void>, name: string): Promise<Form> {
  const fields: Record<string, string> = {};
  const next = async (): Promise<Extract<Part, { kind: "file" }> | undefined> => {
    for (;;) {
      const { done, value } = await parts.next();
      if (done === true) return undefined;
      if (value.kind === "file") {
        if (value.field !== name)
          throw invalid(`${value.field}: is unknown; the file of the form is "${name}".`, {
            reason: "unknown_field",
          });
        return value;
      }
      if (Object.hasOwn(fields, value.name)) throw invalid(`${value.name}: is in the form twice.`);
      fields[value.name] = value.value;
    }
  };
  const file = await next();
  if (file === undefined) throw invalid(`${name}: the form has no such file.`);
  return {
    file,
    rest: async () => {
      if ((await next()) !== undefined) throw invalid(`${name}: the form has more than one file.`);
      return fields;
    },
  };
}

const FormFields = z.strictObject({
  purpose: z.enum(filePurposes),
  "expires_after[anchor]": z.literal("created_at").optional(),
  "expires_after[seconds]": z.coerce.number().optional(),
});

function fileSettings(fields: Fields): FileSettings {
  const result = FormFields.safeParse(fields);
  if (!result.success) {
    const [issue] = result.error.issues;
    const name = issue?.code === "unrecognized_keys" ? issue.keys[0] : issue?.path[0];
    if (issue?.code === "unrecognized_keys")
      throw invalid(`${String(name)}: is unknown; remove it or correct its name.`, { reason: "unknown_field" });
    throw invalid(`${String(name)}: ${issue?.message}.`);
  }
  const { purpose, "expires_after[anchor]": anchor, "expires_after[seconds]": after } = result.data;
  if ((anchor === undefined) !== (after === undefined))
    throw invalid("expires_after: requires anchor (created_at) and seconds.");
  return { purpose, expires_after_seconds: after };
}
