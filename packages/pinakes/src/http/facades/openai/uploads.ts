/** Multipart uploads, which become files. */
import { z } from "zod";
import { invalid } from "../../../domain/errors.ts";
import { fileLimits, filePurposes, partIdOf, type FileUploadView, type Knowledge } from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { FileObject, fileObject, readForm } from "./files.ts";
import { openAiRoute } from "./openai-route.ts";
import { seconds } from "./pages.ts";

const formBytesMax = 65_536;

const UploadObject = z
  .object({
    id: z.string(),
    object: z.literal("upload"),
    bytes: z.number(),
    created_at: z.number(),
    expires_at: z.number(),
    filename: z.string(),
    purpose: z.string(),
    status: z.enum(["pending", "completed", "cancelled", "expired"]),
    file: FileObject.nullable(),
  })
  .meta({ id: "OpenAIUpload" });

const params = z.object({ upload: z.string().describe("Id of the upload: `upload_…`.") });

export function uploadRoutes({ files }: Pick<Knowledge, "files">): readonly Route[] {
  return [...filling(files), ...ending(files)];
}

function filling(files: Knowledge["files"]): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/uploads",
      operationId: "createOpenAIUpload",
      summary: "Start a multipart upload",
      body: z.strictObject({
        bytes: z.int().min(1).max(fileLimits.bytesMax),
        filename: z.string(),
        mime_type: z.string().min(1).max(256),
        purpose: z.enum(filePurposes),
        expires_after: z.strictObject({ anchor: z.literal("created_at"), seconds: z.int() }).optional(),
      }),
      answers: { 200: { description: "The upload, valid for an hour.", schema: UploadObject } },
      handler: async ({ caller, body: { expires_after, ...input } }) =>
        ok(
          uploadObject(
            await files.beginUpload(caller, { ...input, expires_after_seconds: expires_after?.seconds }),
            null,
          ),
        ),
    }),
    openAiRoute({
      method: "POST",
      path: "/openai/v1/uploads/{upload}/parts",
      operationId: "addOpenAIUploadPart",
      summary: "Add a part",
      params,
      limits: { bodyBytesMax: fileLimits.partBytesMax + formBytesMax },
      body: {
        multipart: true,
        fields: { data: { description: "The bytes, up to 64 MB.", file: true, required: true } },
        partLimits: { filesMax: 1, fieldsMax: 1, fieldBytesMax: 1_024 },
      },
      answers: {
        200: {
          description: "The part.",
          schema: z.object({
            id: z.string(),
            object: z.literal("upload.part"),
            created_at: z.number(),
            upload_id: z.string(),
          }),
        },
      },
      handler: async ({ caller, params: { upload }, body }) => {
        if (body.kind !== "multipart") throw invalid("The body must be multipart/form-data.");
        const { file } = await readForm(body.parts(), "data");
        const part = await files.addPart(caller, upload, file.stream);
        return ok({
          id: partIdOf(part),
          object: "upload.part",
          created_at: seconds(part.created_at),
          upload_id: upload,
        });
      },
    }),
  ];
}

function ending(files: Knowledge["files"]): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/uploads/{upload}/complete",
      operationId: "completeOpenAIUpload",
      summary: "Complete an upload: create a file from its parts",
      params,
      body: z.strictObject({
        part_ids: z.array(z.string()).min(1).max(fileLimits.partsMax),
        md5: z
          .string()
          .regex(/^[0-9a-fA-F]{32}$/, "must be 32 hexadecimal digits")
          .optional(),
      }),
      answers: { 200: { description: "The upload, including its file.", schema: UploadObject } },
      handler: async ({ caller, params: { upload: id }, body }) => {
        const { upload, file } = await files.completeUpload(caller, id, body);
        return ok(uploadObject(upload, fileObject(file)));
      },
    }),
    openAiRoute({
      method: "POST",
      path: "/openai/v1/uploads/{upload}/cancel",
      operationId: "cancelOpenAIUpload",
      summary: "Cancel an upload; its parts are removed",
      params,
      answers: { 200: { description: "The upload.", schema: UploadObject } },
      handler: async ({ caller, params: { upload } }) =>
        ok(uploadObject(await files.cancelUpload(caller, upload), null)),
    }),
  ];
}

function uploadObject(upload: FileUploadView, file: ReturnType<typeof fileObject> | null) {
  const { id, bytes, created_at, expires_at, filename, purpose, status } = upload;
  return {
    id,
    object: "upload" as const,
    bytes,
    created_at: seconds(created_at),
    expires_at: seconds(expires_at),
    filename,
    purpose,
    status,
    file,
  };
}
