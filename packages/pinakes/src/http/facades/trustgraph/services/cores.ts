/** knowledge: cores of triples and vectors, stored apart from collections, assembled message by message and loaded into collections. */
import { invalid, PinakesError } from "../../../../domain/errors.ts";
import { personalAlias, type CoreKind, type CoreMessage } from "../../../../knowledge/index.ts";
import type { Call } from "../call.ts";
import { optionalText, record, text } from "../fields.ts";
import { readTriples, writeTerm, writeTriple } from "../terms.ts";
import { readChunks, readEntities, storeChunks, storeEntities } from "./embeddings.ts";
import {
  byOperation,
  ensureCollection,
  type Message,
  type Operation,
  type Service,
  type ServiceDependencies,
} from "./service.ts";

export function coreService(deps: ServiceDependencies): Service {
  const kg = operationsOf(deps, "kg");
  const de = operationsOf(deps, "de");
  return byOperation("knowledge", {
    reads: { "list-kg-cores": kg.list, "get-kg-core": kg.get, "list-de-cores": de.list, "get-de-core": de.get },
    writes: {
      "put-kg-core": kg.put,
      "delete-kg-core": kg.remove,
      "load-kg-core": kg.load,
      "unload-kg-core": unload,
      "put-de-core": de.put,
      "delete-de-core": de.remove,
      "load-de-core": de.load,
      "unload-de-core": unload,
    },
  });
}

const unload: Operation = async () => {
  throw new PinakesError(
    "NOT_SUPPORTED",
    "A loaded core is part of its collection, and may share triples with others; delete the collection instead.",
  );
};

function operationsOf(
  deps: ServiceDependencies,
  kind: CoreKind,
): Readonly<Record<"list" | "get" | "put" | "remove" | "load", Operation>> {
  const { cores } = deps.knowledge.library;
  const id = ({ request }: Call) => text(request, "id");
  return {
    list: async ({ caller }) => ({ ids: await cores.list(caller, kind) }),
    get: async (call) => {
      // The first message shows whether the core exists, before anything is sent.
      const messages = cores.messages(call.caller, kind, id(call));
      const first = await messages.next();
      if (!call.streams) throw invalid("A core has several messages: use /api/v1/socket, or GET /api/v1/export-core.");
      return shown(call, id(call), first, messages);
    },
    put: async (call) => {
      for (const message of readMessages(call, kind)) await cores.put(call.caller, kind, id(call), message);
      return {};
    },
    remove: async (call) => {
      await cores.delete(call.caller, kind, id(call));
      return {};
    },
    load: async (call) => {
      const collection = optionalText(call.request, "collection", "default");
      const messages = cores.messages(call.caller, kind, id(call));
      let next = await messages.next();
      await ensureCollection(deps, call, collection);
      for (; next.done !== true; next = await messages.next()) await loadMessage(deps, call, collection, next.value);
      return {};
    },
  };
}

async function loadMessage(
  deps: ServiceDependencies,
  call: Call,
  collection: string,
  message: CoreMessage,
): Promise<void> {
  const { knowledge } = deps;
  if ("triples" in message) await knowledge.graph.addTriples(call.caller, personalAlias, collection, message.triples);
  else if ("entities" in message) await storeEntities(knowledge, call, collection, message.entities);
  else await storeChunks(knowledge, call, collection, message.chunks);
}

/** The additions of a request; an empty part adds nothing. */
export function readMessages({ request }: Pick<Call, "request">, kind: CoreKind): readonly CoreMessage[] {
  const messages: CoreMessage[] = [];
  const isThere = (name: string) => request[name] !== undefined && request[name] !== null;
  if (kind === "kg") {
    if (isThere("triples")) messages.push({ triples: readTriples(record(request, "triples"), "triples") });
    if (isThere("graph-embeddings")) messages.push({ entities: readEntities(record(request, "graph-embeddings")) });
  } else if (isThere("document-embeddings"))
    messages.push({ chunks: readChunks(record(request, "document-embeddings")) });
  if (messages.length > 0) return messages;
  throw invalid(
    kind === "kg" ? "triples or graph-embeddings: one of them is required." : "document-embeddings: is required.",
  );
}

async function* shown(
  call: Call,
  coreId: string,
  first: IteratorResult<CoreMessage>,
  messages: AsyncGenerator<CoreMessage>,
): AsyncGenerator<Message> {
  for (let next = first; next.done !== true; next = await messages.next()) yield shownMessage(call, coreId, next.value);
  yield { eos: true };
}

export function shownMessage(
  { workspace, typed }: Pick<Call, "workspace" | "typed">,
  coreId: string,
  message: CoreMessage,
): Message {
  const metadata = { id: coreId, root: "", metadata: [], user: workspace, collection: "default" };
  if ("triples" in message)
    return { triples: { metadata, triples: message.triples.map((triple) => writeTriple(triple, typed)) } };
  const shownVectors = (vectors: readonly (readonly number[])[]) =>
    typed ? { vector: vectors[0] ?? [] } : { vectors };
  if ("entities" in message) {
    const entities = message.entities.flatMap(({ entity, vectors }) =>
      (typed ? vectors.map((vector) => [vector]) : [vectors]).map((some) => ({
        entity: writeTerm(entity, typed),
        ...shownVectors(some),
      })),
    );
    return { "graph-embeddings": { metadata, entities } };
  }
  const chunks = message.chunks.flatMap(({ chunk, text: isText, vectors }) =>
    (typed ? vectors.map((vector) => [vector]) : [vectors]).map((some) => ({
      [isText ? "chunk" : "chunk_id"]: chunk,
      ...shownVectors(some),
    })),
  );
  return { "document-embeddings": { metadata, chunks } };
}
