/** Uploads files to a catalog: several in a form, processed as they arrive, or one as base64 in JSON. */
import { z } from "zod";
import { uploadFiles, type FileToStore } from "../../../catalogs/index.ts";
import { invalid } from "../../../domain/errors.ts";
import { personalAlias } from "../../../knowledge/index.ts";
import type { Pinakes } from "../../../open.ts";
import { defineRoute, type Part, type Route } from "../../framework/index.ts";
import { answerOf, Envelope } from "./answers.ts";
import { argumentsOf, contextOf, runTool } from "./context.ts";
import { bodyOf, cid, common, described } from "./declare.ts";

export function uploadRoute(pinakes: Pinakes): Route {
  return defineRoute({
    ...common,
    ...described("upload_to_catalog", "Upload documents to a catalog: files in a form, or one as JSON"),
    method: "POST",
    path: "/catalogs/{cid}/documents",
    operationId: "uploadToCatalog",
    params: z.object({ cid }),
    body: {
      multipart: true,
      json: bodyOf("upload_to_catalog", "catalog_id"),
      fields: {
        file: { description: "A file; there may be several, each up to 50 MB.", file: true, required: true },
        replace: { description: "true: the files after it replace documents with the same names." },
      },
    },
    answers: { 202: { description: "The documents, and which files were refused.", schema: Envelope } },
    handler: async (request) => {
      const { caller, body, params } = request;
      const context = contextOf(pinakes, request);
      if (body.kind === "json") {
        const args = argumentsOf(body.value, { catalog_id: params.cid });
        return answerOf(await runTool("upload_to_catalog", context, args), 202);
      }
      const envelope = await uploadFiles(context, params.cid, filesOf(body.parts()), (run) =>
        pinakes.knowledge.documents.uploadMany(caller, personalAlias, params.cid, run),
      );
      return answerOf(envelope, 202);
    },
  });
}

async function* filesOf(parts: AsyncIterable<Part>): AsyncGenerator<FileToStore> {
  let replace = false;
  for await (const part of parts) {
    if (part.kind === "file") {
      yield { filename: part.filename, body: part.stream, replace };
      continue;
    }
    if (part.name !== "replace") throw invalid(`${part.name}: is not a field of this form; the only field is replace.`);
    if (part.value !== "true" && part.value !== "false") throw invalid('replace: must be "true" or "false".');
    replace = part.value === "true";
  }
}
