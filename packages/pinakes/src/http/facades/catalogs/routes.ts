/**
 * The facade for clients of the knowledge-base agent: its ten tools as resources. Every response is the envelope of the tool, including
 * errors.
 */
import { z } from "zod";
import { selectedCatalog } from "../../../catalogs/index.ts";
import type { Pinakes } from "../../../open.ts";
import { defineRoute, type Route } from "../../framework/index.ts";
import { answerOf, Envelope } from "./answers.ts";
import { argumentsOf, contextOf, runTool } from "./context.ts";
import { bodyOf, cid, common, described, did, sid } from "./declare.ts";
import { statusRoute } from "./status.ts";
import { uploadRoute } from "./upload.ts";

const one = "/catalogs/{cid}";
const document = `${one}/documents/{did}`;

export function catalogRoutes(pinakes: Pinakes): readonly Route[] {
  return [
    ...catalogsThemselves(pinakes),
    uploadRoute(pinakes),
    ...documents(pinakes),
    statusRoute(pinakes),
    ...questions(pinakes),
    ...selections(pinakes),
  ];
}

function catalogsThemselves(pinakes: Pinakes): readonly Route[] {
  return [
    defineRoute({
      ...common,
      ...described("create_catalog"),
      method: "POST",
      path: "/catalogs",
      operationId: "createCatalog",
      body: bodyOf("create_catalog"),
      answers: { 201: { description: "The catalog.", schema: Envelope } },
      handler: async (request) =>
        answerOf(await runTool("create_catalog", contextOf(pinakes, request), request.body ?? {}), 201),
    }),
    defineRoute({
      ...common,
      ...described("list_catalogs"),
      method: "GET",
      path: "/catalogs",
      operationId: "listCatalogs",
      answers: { 200: { description: "All catalogs.", schema: Envelope } },
      handler: async (request) => answerOf(await runTool("list_catalogs", contextOf(pinakes, request), {})),
    }),
    defineRoute({
      ...common,
      ...described("delete_catalog"),
      method: "DELETE",
      path: one,
      operationId: "deleteCatalog",
      params: z.object({ cid }),
      query: z.object({ confirm: z.string().optional().describe("true, once the user has confirmed.") }),
      answers: { 200: { description: "What was deleted.", schema: Envelope } },
      handler: async (request) => {
        const { confirm } = request.query;
        // The tool rejects any other word.
        const confirmed = confirm === undefined || confirm === "false" ? false : confirm === "true" || confirm;
        const args = { catalog_id: request.params.cid, confirm: confirmed };
        return answerOf(await runTool("delete_catalog", contextOf(pinakes, request), args));
      },
    }),
  ];
}

function documents(pinakes: Pinakes): readonly Route[] {
  return [
    defineRoute({
      ...common,
      ...described("list_catalog_documents"),
      method: "GET",
      path: `${one}/documents`,
      operationId: "listCatalogDocuments",
      params: z.object({ cid }),
      answers: { 200: { description: "All documents, newest first.", schema: Envelope } },
      handler: async (request) => {
        const args = { catalog_id: request.params.cid };
        return answerOf(await runTool("list_catalog_documents", contextOf(pinakes, request), args));
      },
    }),
    defineRoute({
      ...common,
      ...described("delete_catalog_document"),
      method: "DELETE",
      path: document,
      operationId: "deleteCatalogDocument",
      params: z.object({ cid, did }),
      answers: { 200: { description: "What was deleted.", schema: Envelope } },
      handler: async (request) => {
        const args = { catalog_id: request.params.cid, document_id: request.params.did };
        return answerOf(await runTool("delete_catalog_document", contextOf(pinakes, request), args));
      },
    }),
    defineRoute({
      ...common,
      ...described("download_from_catalog"),
      method: "GET",
      path: `${document}/download`,
      operationId: "downloadFromCatalog",
      params: z.object({ cid, did }),
      answers: { 200: { description: "The link.", schema: Envelope } },
      handler: async (request) => {
        const args = { catalog_id: request.params.cid, document_id: request.params.did };
        return answerOf(await runTool("download_from_catalog", contextOf(pinakes, request), args));
      },
    }),
  ];
}

function questions(pinakes: Pinakes): readonly Route[] {
  return [
    defineRoute({
      ...common,
      ...described("query_catalog"),
      method: "POST",
      path: `${one}/query`,
      operationId: "queryCatalog",
      readOnlyOk: true,
      params: z.object({ cid }),
      body: bodyOf("query_catalog", "catalog_id"),
      answers: { 200: { description: "The sources; empty if nothing is relevant.", schema: Envelope } },
      handler: async (request) => {
        const args = argumentsOf(request.body, { catalog_id: request.params.cid });
        return answerOf(await runTool("query_catalog", contextOf(pinakes, request), args));
      },
    }),
    defineRoute({
      ...common,
      ...described("query_catalog", "Query the selected catalog of a session"),
      method: "POST",
      path: "/sessions/{sid}/query",
      operationId: "querySelectedCatalog",
      readOnlyOk: true,
      params: z.object({ sid }),
      body: bodyOf("query_catalog"),
      answers: { 200: { description: "The sources; empty if nothing is relevant.", schema: Envelope } },
      handler: async (request) =>
        answerOf(await runTool("query_catalog", contextOf(pinakes, request, request.params.sid), request.body ?? {})),
    }),
  ];
}

/** The client chooses the session id: no session has to be opened, and a selection expires a day after its last use. */
function selections(pinakes: Pinakes): readonly Route[] {
  const path = "/sessions/{sid}/catalog";
  const params = z.object({ sid });
  return [
    defineRoute({
      ...common,
      ...described("select_catalog"),
      method: "PUT",
      path,
      operationId: "selectCatalog",
      readOnlyOk: true,
      params,
      body: bodyOf("select_catalog"),
      answers: { 200: { description: "The catalog is selected.", schema: Envelope } },
      handler: async (request) =>
        answerOf(await runTool("select_catalog", contextOf(pinakes, request, request.params.sid), request.body ?? {})),
    }),
    defineRoute({
      ...common,
      summary: "Get the selected catalog of a session",
      method: "GET",
      path,
      operationId: "getSelectedCatalog",
      params,
      answers: {
        200: { description: "Its id and when it was selected; both null if none is selected.", schema: Envelope },
      },
      handler: async (request) => answerOf(await selectedCatalog(contextOf(pinakes, request, request.params.sid))),
    }),
    defineRoute({
      ...common,
      summary: "Deselect the catalog of a session",
      method: "DELETE",
      path,
      operationId: "deselectCatalog",
      readOnlyOk: true,
      params,
      answers: { 200: { description: "No catalog is selected.", schema: Envelope } },
      handler: async (request) => {
        const context = contextOf(pinakes, request, request.params.sid);
        return answerOf(await runTool("select_catalog", context, { catalog_id: "none" }));
      },
    }),
  ];
}
