/**
 * The client's interface with every call recorded: for programs, commands and MCP, which come through no route. The table must name every
 * method, or it does not compile.
 */
import { collectionOf, type KnowledgeApi, type StateApi } from "@pinakes/client";
import type { AuditRecorder, CallVerb, RecordedCall } from "./recorder.ts";

type Verbs<Api> = { readonly [Group in keyof Api]: { readonly [Name in keyof Api[Group]]: CallVerb } };

const threads: Verbs<StateApi>["threads"] = {
  append: "create",
  appendMany: "create",
  list: "none",
  get: "none",
  deleteMessage: "delete",
  clear: "delete",
};

const stateVerbs: Verbs<StateApi> = {
  workflows: {
    create: "create",
    get: "none",
    list: "none",
    patch: "update",
    delete: "delete",
    start: "update",
    pause: "update",
    cancel: "update",
    complete: "update",
    fail: "update",
    retry: "update",
    skip: "update",
    resume: "update",
    setAgent: "update",
    checkpoint: "create",
    checkpoints: "none",
    checkpointAt: "none",
    lease: "none",
    acquireLease: "update",
    renewLease: "update",
    releaseLease: "update",
    events: "none",
    stats: "none",
  },
  memories: {
    append: "create",
    appendMany: "create",
    get: "none",
    list: "none",
    patch: "update",
    delete: "delete",
    thread: "none",
    agents: "none",
    sessions: "none",
    session: "none",
    fork: "create",
    deleteSession: "delete",
    context: "none",
    search: "none",
  },
  threads,
  systemThreads: threads,
  entities: { get: "none", put: "update", delete: "delete" },
  metrics: {
    ingest: "create",
    list: "none",
    aggregate: "none",
    rollups: "none",
    names: "none",
    forgetName: "delete",
  },
  tools: {
    ingest: "create",
    list: "none",
    get: "none",
    aggregate: "none",
    export: "export",
    rules: "none",
    putRule: "update",
    deleteRule: "delete",
    verifyChain: "none",
    settings: "none",
    putSettings: "update",
  },
  containers: {
    list: "none",
    put: "update",
    get: "none",
    delete: "delete",
    indexes: "none",
    create: "create",
    upsert: "update",
    replace: "update",
    read: "none",
    patch: "update",
    deleteItem: "delete",
    readMany: "none",
    batch: "update",
    bulk: "update",
    query: "none",
    explain: "none",
    changes: "none",
    deletePartition: "delete",
  },
};

const knowledgeVerbs: Verbs<KnowledgeApi> = {
  repositories: { create: "create", get: "none", list: "none", update: "update", delete: "delete" },
  collections: {
    create: "create",
    get: "none",
    list: "none",
    update: "update",
    delete: "delete",
    restore: "restore",
    archive: "update",
    unarchive: "restore",
    reindex: "update",
    usage: "none",
  },
  documents: {
    upload: "create",
    get: "document",
    list: "none",
    delete: "delete",
    deleteAll: "delete",
    reindex: "update",
    setAccess: "update",
    content: "document",
    text: "document",
    chunks: "document",
    versions: "document",
    uploadLink: "create",
    downloadLink: "document",
  },
  search: { query: "none", verifyCitations: "none" },
  answers: { ask: "none", stream: "none" },
  graph: { add: "create", load: "create", match: "none", remove: "delete", query: "none", update: "update" },
  vectors: { upsert: "update", delete: "delete", query: "none", manifest: "none" },
  jobs: { get: "none", list: "none", retry: "update", cancel: "update" },
  operations: { get: "none", list: "none", retry: "update" },
  keys: { create: "create", list: "none", revoke: "delete" },
  audit: { list: "none", checkpoint: "none", inclusion: "none", consistency: "none", export: "export" },
  erasures: { request: "erase", get: "none", list: "none", verify: "none" },
  receipts: { get: "none", list: "none", key: "none" },
  holds: { create: "create", get: "none", list: "none", release: "delete" },
  retention: { list: "none", get: "none", preview: "none", set: "update" },
  subjectExports: { create: "export", get: "none", list: "none", part: "export", delete: "delete" },
  events: { follow: "none" },
  server: { info: "none", me: "none" },
};

/** The caller, and the interface used. */
type AuditedBy = Pick<RecordedCall, "auth" | "face" | "ip" | "userAgent" | "requestId">;

export function auditedKnowledge(api: KnowledgeApi, recorder: AuditRecorder, who: AuditedBy): KnowledgeApi {
  return audited(api, knowledgeVerbs, recorder, who);
}

export function auditedState(api: StateApi, recorder: AuditRecorder, who: AuditedBy): StateApi {
  return audited(api, stateVerbs, recorder, who);
}

type Method = (...args: unknown[]) => unknown;

function audited<Api extends object>(api: Api, verbs: Verbs<Api>, recorder: AuditRecorder, who: AuditedBy): Api {
  const groups = Object.entries(verbs as Record<string, Record<string, CallVerb>>).map(([group, methods]) => {
    const target = (api as Record<string, Record<string, Method>>)[group] as Record<string, Method>;
    const recorded = Object.entries(methods).map(([name, verb]) => {
      const call: RecordedCall = { ...who, action: `${group}.${name}`, resource: group, verb };
      return [name, (...args: unknown[]) => recordedCall(target, name, args, recorder, call)] as const;
    });
    return [group, Object.fromEntries(recorded)] as const;
  });
  return Object.fromEntries(groups) as Api;
}

function recordedCall(
  target: Record<string, Method>,
  name: string,
  args: readonly unknown[],
  recorder: AuditRecorder,
  call: RecordedCall,
): unknown {
  const run = (): unknown => (target[name] as Method).apply(target, [...args]);
  const { verb } = call;
  const purges = (args[1] as { readonly purge?: unknown } | undefined)?.purge === true;
  const end = (result: unknown, failure: unknown) => ({
    failure,
    fields: { ...fieldsOf(call.resource, result), ...argumentsOf(call.resource, args) },
    ...(purges ? { verb: "purge" as const } : {}),
  });
  // Endless streams, and those of answers: only reads change nothing.
  if (call.action === "answers.stream" || call.action === "events.follow" || call.action === "workflows.events")
    return run();
  if (call.action === "tools.export") return recordedStream(run as () => AsyncIterable<unknown>, recorder, call, end);
  return recorder.around({ ...call, verb }, async () => run() as Promise<unknown>, end);
}

async function* recordedStream(
  run: () => AsyncIterable<unknown>,
  recorder: AuditRecorder,
  call: RecordedCall,
  end: (result: unknown, failure: unknown) => { readonly failure: unknown; readonly fields: object },
): AsyncGenerator<unknown, void> {
  const stream = await recorder.around(
    call,
    async () => run(),
    (_, failure) => ({ failure, fields: end(undefined, failure).fields as Readonly<Record<string, unknown>> }),
  );
  yield* stream;
}

const answered = [
  "repository_id",
  "collection_id",
  "document_id",
  "job_id",
  "workflow_id",
  "key_id",
  "erasure_id",
  "hold_id",
  "export_id",
] as const;

/** Ids of container items are the caller's own text. */
function fieldsOf(group: string, result: unknown): Readonly<Record<string, unknown>> {
  if (group === "containers" || typeof result !== "object" || result === null) return {};
  const fields = result as Readonly<Record<string, unknown>>;
  const names = group === "keys" ? [...answered, "user_id"] : answered;
  return Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
}

/** The names of the first arguments, by group. */
const positions: Readonly<Record<string, readonly string[]>> = {
  repositories: ["repository"],
  documents: ["at", "document_id"],
  collections: ["at"],
  graph: ["at"],
  vectors: ["at"],
  jobs: ["job_id"],
  operations: ["operation_id"],
  keys: ["key_id"],
  erasures: ["erasure_id"],
  receipts: ["erasure_id"],
  holds: ["hold_id"],
  subjectExports: ["export_id"],
  retention: ["container"],
  workflows: ["workflow_id"],
  memories: ["agent_id", "id"],
  threads: ["thread_id", "id"],
  systemThreads: ["thread_id", "id"],
  entities: ["agent_id"],
  containers: ["container"],
  metrics: ["name"],
  tools: ["tool"],
};

function argumentsOf(group: string, args: readonly unknown[]): Readonly<Record<string, unknown>> {
  const [first] = args;
  const fields: Record<string, unknown> = {};
  for (const [i, name] of (positions[group] ?? []).entries()) {
    const value = args[i];
    if (name === "at") Object.assign(fields, placeOf(value));
    else if (typeof value === "string") fields[name] = value;
  }
  // An agent's own record: whose it is.
  if (group === "memories" && typeof first === "object" && first !== null && !Array.isArray(first)) {
    const { agent_id, session_id } = first as { readonly agent_id?: unknown; readonly session_id?: unknown };
    Object.assign(fields, { agent_id, session_id });
  }
  return fields;
}

function placeOf(value: unknown): Readonly<Record<string, string>> {
  try {
    return { ...collectionOf(value as Parameters<typeof collectionOf>[0]) };
  } catch {
    // The call itself rejects anything that is not a collection.
    return {};
  }
}
