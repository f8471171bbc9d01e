/**
 * librarian: a user's documents under client-defined ids, independent of collections, and their processing, which attaches a document to a
 * collection, where it is indexed like any other file.
 */
import { invalid, PinakesError, show } from "../../../../domain/errors.ts";
import { personalAlias, type LibraryProcessing } from "../../../../knowledge/index.ts";
import type { Call } from "../call.ts";
import { base64, optionalText, record, text, texts } from "../fields.ts";
import { nowSeconds, readChange, readDocument, shownDocument, timeOf } from "./document-metadata.ts";
import { byOperation, ensureCollection, type Message, type Service, type ServiceDependencies } from "./service.ts";
import { streamDocument } from "./stream-document.ts";
import { uploadOperations } from "./uploads.ts";

export function documentService(deps: ServiceDependencies): Service {
  const { documents } = deps.knowledge.library;
  const uploads = uploadOperations(deps);
  const metadataOf = async (call: Call): Promise<Message> => ({
    "document-metadata": shownDocument(call, await documents.get(call.caller, text(call.request, "document-id"))),
  });
  return byOperation("librarian", {
    reads: {
      "list-documents": async (call) => {
        const all = await documents.list(call.caller);
        const children = call.request["include-children"] === true;
        const shown = all.filter(({ parent_id }) => children || parent_id === null);
        return { "document-metadatas": shown.map((document) => shownDocument(call, document)) };
      },
      "list-children": async (call) => {
        const parent = text(call.request, "document-id");
        await documents.get(call.caller, parent);
        const children = (await documents.list(call.caller)).filter(({ parent_id }) => parent_id === parent);
        return { "document-metadatas": children.map((document) => shownDocument(call, document)) };
      },
      "get-document-metadata": metadataOf,
      // Sent by clients of both versions, although neither gateway uses it.
      "get-document": metadataOf,
      "get-document-content": async (call) => {
        const { document, body } = await documents.content(call.caller, text(call.request, "document-id"));
        return { content: await wholeInBase64(document.bytes, body) };
      },
      "stream-document": (call) => streamDocument(deps.knowledge, call),
      "list-processing": async (call) => {
        const processings = await documents.processings(call.caller);
        return { "processing-metadatas": processings.map((one) => shownProcessing(call, one)) };
      },
      ...uploads.reads,
    },
    writes: {
      "add-document": (call) => addDocument(deps, call, false),
      "add-child-document": (call) => addDocument(deps, call, true),
      "update-document": async (call) => {
        const { id, change } = readChange(record(call.request, "document-metadata"));
        return { "document-metadata": shownDocument(call, await documents.update(call.caller, id, change)) };
      },
      "remove-document": async (call) => {
        await documents.remove(call.caller, text(call.request, "document-id"));
        return {};
      },
      "add-processing": (call) => addProcessing(deps, call),
      "remove-processing": async (call) => {
        await documents.removeProcessing(call.caller, text(call.request, "processing-id"));
        return {};
      },
      ...uploads.writes,
    },
  });
}

async function addDocument({ knowledge }: ServiceDependencies, call: Call, child: boolean): Promise<Message> {
  const fields = readDocument(record(call.request, "document-metadata"), child);
  if (child && fields.parent_id === null) throw invalid("document-metadata.parent-id: a child must name its parent.");
  const content = base64(call.request["content"], "content");
  await knowledge.library.documents.add(call.caller, fields, inOne(content));
  return {};
}

async function addProcessing(deps: ServiceDependencies, call: Call): Promise<Message> {
  const { knowledge } = deps;
  const { documents } = knowledge.library;
  const sent = record(call.request, "processing-metadata");
  const processing_id = text(sent, "id");
  const collection_id = optionalText(sent, "collection", "default");
  const document = await documents.get(call.caller, text(sent, "document-id"));
  if (await documents.hasProcessing(call.caller, processing_id))
    throw new PinakesError("CONFLICT", `Processing ${show(processing_id)} already exists; use another id.`);
  const input = {
    processing_id,
    document_id: document.document_id,
    time: timeOf(sent["time"]) ?? nowSeconds(),
    flow: optionalText(sent, "flow", "default"),
    collection_id,
    tags: [...(texts(sent, "tags") ?? [])],
  };
  await ensureCollection(deps, call, collection_id);
  await knowledge.files.attach(call.caller, personalAlias, collection_id, { file_id: document.file_id });
  if (document.metadata.length > 0)
    await knowledge.graph.addTriples(call.caller, personalAlias, collection_id, document.metadata);
  await documents.addProcessing(call.caller, input);
  return {};
}

function shownProcessing({ workspace }: Call, processing: LibraryProcessing): Message {
  const { processing_id, document_id, time, flow, collection_id, tags } = processing;
  return {
    id: processing_id,
    "document-id": document_id,
    time,
    flow,
    user: workspace,
    collection: collection_id,
    tags,
  };
}

/** Maximum for a response with a single message; larger documents are returned by stream-document. */
const wholeBytesMax = 50_000_000;

async function wholeInBase64(bytes: number, body: AsyncIterable<Uint8Array>): Promise<string> {
  if (bytes > wholeBytesMax)
    throw new PinakesError("LIMIT_EXCEEDED", `The document has ${bytes} bytes; read it with stream-document.`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("base64");
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
