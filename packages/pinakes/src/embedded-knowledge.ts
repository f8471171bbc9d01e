/** The knowledge part of the client without a server: maps each call of the contract to a call of `Knowledge`, for one caller. */
import {
  collectionOf,
  collectionsOf,
  piecesOf,
  type CollectionRef,
  type AskOptions,
  type GraphApi,
  type KnowledgeApi,
  type LoadedTriples,
  type SparqlAnswer as ClientAnswer,
  type SparqlOptions,
  type UploadBody,
} from "@pinakes/client";
import type { Caller } from "./domain/caller.ts";
import { PinakesError } from "./domain/errors.ts";
import type { Filter } from "./domain/filter.ts";
import { termOf } from "./domain/rdf.ts";
import { AuditApi, governanceApi } from "./governance/index.ts";
import type { Authenticated } from "./identity/index.ts";
import {
  type AskInput,
  stoppedLoad,
  tripleView,
  uploadedFrom,
  type Knowledge,
  type LoadInput,
  type SparqlAnswer,
  type SparqlInput,
} from "./knowledge/index.ts";
import type { Pinakes } from "./open.ts";

/** `auth`: the identity that manages keys, if not the caller itself. */
export function embeddedKnowledge(
  pinakes: Pinakes,
  caller: Caller,
  auth: Authenticated = pinakes.identity.embedded(caller),
): KnowledgeApi {
  const { knowledge, identity } = pinakes;
  const audit = new AuditApi(pinakes.audit);
  return {
    ...catalogApi(knowledge, caller),
    documents: documentsApi(knowledge, caller),
    graph: graphApi(knowledge, caller),
    vectors: vectorsApi(knowledge, caller),
    search: {
      query: (query, { in: within, filter, ...options } = {}) =>
        knowledge.search.run(caller, {
          query,
          ...options,
          filter: filter as Filter | undefined,
          collections: collectionsOf(within),
        }),
      verifyCitations: async (citations) => (await knowledge.search.verifyCitations(caller, citations)).checks,
    },
    answers: {
      ask: async (question, options = {}) =>
        knowledge.answers.ask(caller, askInput(question, options), { signal: options.signal }),
      stream: (question, options = {}) =>
        knowledge.answers.stream(caller, askInput(question, options), { signal: options.signal }),
    },
    jobs: {
      get: (jobId) => knowledge.jobs.get(caller, jobId),
      list: (query) => knowledge.jobs.list(caller, query),
      retry: (jobId) => knowledge.jobs.retry(caller, jobId),
      cancel: (jobId) => knowledge.jobs.cancel(caller, jobId),
    },
    operations: {
      get: (operationId) => knowledge.operations.get(caller, operationId),
      list: (query) => knowledge.operations.list(caller, query),
      retry: (operationId) => knowledge.operations.retry(caller, operationId),
    },
    keys: {
      create: (input) => identity.keys.create(auth, input as Parameters<typeof identity.keys.create>[1]),
      list: async (query) => {
        const { items, cursor } = await identity.keys.list(auth, query);
        return { items, next_cursor: cursor ?? null };
      },
      revoke: (keyId, options) => identity.keys.revoke(auth, keyId, options),
    },
    audit: {
      list: (query) => audit.list(auth, query),
      checkpoint: () => audit.checkpoint(auth),
      inclusion: (index, options) => audit.inclusion(auth, { index, ...options }),
      consistency: (from, options) => audit.consistency(auth, { from, ...options }),
      export: async (options) => ReadableStream.from(bytesOf(audit.export(auth, options))),
    },
    ...governanceApi(pinakes.governance, caller, auth),
    server: {
      info: async () => {
        const { name, version, database } = pinakes.info();
        return { name, version, database, trash_days: knowledge.trashDays };
      },
      me: async () => identity.me(auth),
    },
    events: { follow: (options) => knowledge.events(caller, options) },
  };
}

function catalogApi(knowledge: Knowledge, caller: Caller): Pick<KnowledgeApi, "repositories" | "collections"> {
  return {
    repositories: {
      create: (input) => knowledge.repositories.create(caller, input),
      get: (repositoryId) => knowledge.repositories.get(caller, repositoryId),
      list: (query) => knowledge.repositories.list(caller, query),
      update: (repositoryId, change, { ifMatch } = {}) =>
        knowledge.repositories.update(caller, repositoryId, change, ifMatch),
      delete: (repositoryId, { confirm, ifMatch }) =>
        knowledge.repositories.delete(caller, repositoryId, confirm, ifMatch),
    },
    collections: {
      create: ({ repository, ...input }) => knowledge.collections.create(caller, repository, input),
      get: async (at, { deleted = false, incarnation } = {}) =>
        knowledge.collections.get(caller, ...named(at), { deleted, incarnation }),
      list: ({ repository, ...query } = {}) =>
        knowledge.collections.list(caller, { ...query, repositoryId: repository }),
      update: async (at, change, { ifMatch } = {}) =>
        knowledge.collections.update(caller, ...named(at), change, ifMatch),
      delete: async (at, options) => knowledge.collections.delete(caller, ...named(at), options),
      restore: async (at, options) => knowledge.collections.restore(caller, ...named(at), options),
      archive: async (at, { ifMatch } = {}) => knowledge.collections.archive(caller, ...named(at), ifMatch),
      unarchive: async (at, { ifMatch } = {}) => knowledge.collections.unarchive(caller, ...named(at), ifMatch),
      reindex: async (at, options) => knowledge.collections.reindex(caller, ...named(at), options),
      usage: async (at) => knowledge.collections.usage(caller, ...named(at)),
    },
  };
}

function documentsApi(knowledge: Knowledge, caller: Caller): KnowledgeApi["documents"] {
  return {
    upload: async (at, { body, path, ...input }, { onBytes } = {}) => {
      // Under a separate job, as over HTTP.
      const { result } = await knowledge.documents.uploadMany(caller, ...named(at), (take) =>
        take({ ...input, ...uploadedFrom(path), body: counted(body, onBytes) }),
      );
      return result;
    },
    get: async (at, documentId) => knowledge.documents.get(caller, ...named(at), documentId),
    list: async (at, query) => knowledge.documents.list(caller, ...named(at), query),
    delete: async (at, documentId, { ifMatch } = {}) =>
      knowledge.documents.delete(caller, ...named(at), documentId, ifMatch),
    deleteAll: async (at, { confirm }) => knowledge.documents.deleteAll(caller, ...named(at), confirm),
    reindex: async (at, documentId) => knowledge.documents.reindex(caller, ...named(at), documentId),
    setAccess: async (at, documentId, access, { ifMatch } = {}) =>
      knowledge.documents.setAccess(caller, ...named(at), documentId, access, ifMatch),
    content: async (at, documentId, { version } = {}) => {
      const { body } = await knowledge.documents.content(caller, ...named(at), documentId, version);
      return ReadableStream.from(body);
    },
    text: async (at, documentId, query) => knowledge.documents.text(caller, ...named(at), documentId, query),
    chunks: async (at, documentId, query) => knowledge.documents.passages(caller, ...named(at), documentId, query),
    versions: async (at, documentId) => knowledge.documents.versions(caller, ...named(at), documentId),
    uploadLink: async (at, document) => knowledge.grants.upload(caller, ...named(at), document),
    downloadLink: async (at, documentId, options) =>
      knowledge.grants.download(caller, ...named(at), documentId, options),
  };
}

function askInput(question: string, { in: within, filter, signal: _, ...options }: AskOptions): AskInput {
  return { question, ...options, filter: filter as Filter | undefined, collections: collectionsOf(within) };
}

function graphApi({ graph }: Knowledge, caller: Caller): GraphApi {
  const load = async (at: CollectionRef, body: string, input: Omit<LoadInput, "body">): Promise<LoadedTriples> => {
    const result = await graph.loadTriples(caller, ...named(at), { ...input, body: piecesOf(body) });
    const stopped = stoppedLoad(result);
    if (stopped !== undefined) throw new PinakesError(stopped.code, stopped.detail);
    return result;
  };
  return {
    add: (at, triples) => load(at, JSON.stringify(triples), { format: "json" }),
    load: (at, body, { format, allOrNothing, baseIri, graph: name }) =>
      load(at, body, { format, all_or_nothing: allOrNothing, base_iri: baseIri, graph: name }),
    match: async (at, query) => graph.matchTriples(caller, ...named(at), query),
    remove: async (at, pattern) => graph.removeTriples(caller, ...named(at), pattern),
    query: async (at, query, options = {}) =>
      answerOf(await graph.sparql(caller, ...named(at), { query, ...settingsOf(options) })),
    update: async (at, update, options = {}) => {
      const answer = await graph.sparql(caller, ...named(at), { update, ...settingsOf(options) });
      return answer.kind === "updated"
        ? { inserted: answer.inserted, removed: answer.removed }
        : { inserted: 0, removed: 0 };
    },
  };
}

function vectorsApi({ rows }: Knowledge, caller: Caller): KnowledgeApi["vectors"] {
  return {
    upsert: async (at, items, { deltaId } = {}) => rows.upsert(caller, ...named(at), { items, delta_id: deltaId }),
    delete: async (at, ids, { deltaId } = {}) => rows.delete(caller, ...named(at), { ids, delta_id: deltaId }),
    query: async (at, query) => rows.query(caller, ...named(at), query),
    manifest: async (at) => rows.manifest(caller, ...named(at)),
  };
}

async function* bytesOf(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void> {
  for await (const text of texts) yield Buffer.from(text);
}

function named(at: CollectionRef): [string, string] {
  const { repository, collection } = collectionOf(at);
  return [repository, collection];
}

/** The bytes of an upload, reported as the store consumes them. */
async function* counted(body: UploadBody, onBytes?: (sent: number) => void): AsyncGenerator<Uint8Array, void> {
  let sent = 0;
  for await (const piece of piecesOf(body)) {
    yield piece;
    sent += piece.byteLength;
    onBytes?.(sent);
  }
}

function settingsOf({
  defaultGraphs,
  namedGraphs,
  defaultGraph,
  timeoutMs,
  limit,
  signal,
}: SparqlOptions): Omit<SparqlInput, "query" | "update"> {
  return {
    default_graphs: defaultGraphs,
    named_graphs: namedGraphs,
    default_graph: defaultGraph,
    timeout_ms: timeoutMs,
    limit,
    signal,
  };
}

async function answerOf(answer: SparqlAnswer): Promise<ClientAnswer> {
  if (answer.kind === "boolean") return { kind: "boolean", value: answer.value };
  if (answer.kind === "quads") return { kind: "quads", quads: (await Array.fromAsync(answer.quads)).map(tripleView) };
  if (answer.kind === "updated") throw new PinakesError("INVALID", "An update was sent as a query; use `update`.");
  const { variables } = answer;
  const rows = (await Array.fromAsync(answer.rows)).map((row) =>
    Object.fromEntries(variables.flatMap((name, i) => (row[i] === undefined ? [] : [[name, termOf(row[i])]]))),
  );
  return { kind: "bindings", variables, rows };
}
