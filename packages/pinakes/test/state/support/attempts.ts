/** Every method of every feature of state as an attempt on somebody's things. A method that is missing here fails the suite. */
import type { Caller } from "../../../src/domain/caller.ts";
import type { State } from "../../../src/state/index.ts";
import type { Etags, Names } from "./secret-state.ts";

export interface Target extends Names {
  readonly etags: Etags;
}
export type Attempt = (state: State, caller: Caller, target: Target) => unknown;

const json = "application/json";
const otlp = (request: object): Uint8Array => Buffer.from(JSON.stringify(request), "utf8");
const all = ["count", "sum", "p95"] as const;
/** A time that is the same in two calls: the answer tells it. */
const bothDays = ({ dayBefore, date }: Names) => ({ from: `${dayBefore}T00:00:00Z`, to: `${date}T23:59:59Z` });
const soon = (): AbortSignal => AbortSignal.timeout(50);
const flow = ({ wid }: Names) => ({ id: wid, workflow_id: wid, type: "saga", name: "Mine", total_steps: 1 }) as const;
const said = ({ aid, sid, id }: Names) =>
  ({ id, agent_id: aid, session_id: sid, content: "mine", message_type: "user" }) as const;
const metric = ({ id, aid }: Names) => ({ id, agent_id: aid, metric_type: "cost", value: 1 }) as const;
const called = ({ id, aid, sid, tool }: Names) =>
  ({ id, agent_id: aid, session_id: sid, tool_name: tool, status: "success", duration_ms: 1 }) as const;
const kept = ({ id, pk }: Names) => ({ id, owner: pk, text: "mine" });
const question = { query: "SELECT * FROM c" };

/** Names a thing: refused as a missing one is. */
export const onThings: Readonly<Record<string, Attempt>> = {
  "workflows.get": (s, who, t) => s.workflows.get(who, t.wid),
  "workflows.get, without checkpoints": (s, who, t) => s.workflows.get(who, t.wid, { checkpoints: "none" }),
  "workflows.patch": (s, who, t) => s.workflows.patch(who, t.wid, { description: "mine now" }),
  "workflows.patch, with etag and token": (s, who, t) =>
    s.workflows.patch(who, t.wid, { description: "mine now" }, { ifMatch: t.etags.workflow, fencingToken: 1 }),
  "workflows.delete": (s, who, t) => s.workflows.delete(who, t.wid, { fencingToken: 1 }),
  "workflows.start": (s, who, t) => s.workflows.start(who, t.wid),
  "workflows.pause": (s, who, t) => s.workflows.pause(who, t.wid, { fencingToken: 1 }),
  "workflows.cancel": (s, who, t) => s.workflows.cancel(who, t.wid, { fencingToken: 1 }),
  "workflows.complete": (s, who, t) => s.workflows.complete(who, t.wid, { fencingToken: 1 }),
  "workflows.fail": (s, who, t) => s.workflows.fail(who, t.wid, {}, { fencingToken: 1 }),
  "workflows.retry": (s, who, t) => s.workflows.retry(who, t.wid),
  "workflows.skip": (s, who, t) => s.workflows.skip(who, t.wid),
  "workflows.resume": (s, who, t) => s.workflows.resume(who, t.wid, { owner: "intruder", fencingToken: 1 }),
  "workflows.setAgent": (s, who, t) =>
    s.workflows.setAgent(who, t.wid, t.aid, { status: "completed" }, { fencingToken: 1 }),
  "workflows.checkpoint": (s, who, t) =>
    s.workflows.checkpoint(who, t.wid, { step: 1, state: {} }, { fencingToken: 1 }),
  "workflows.checkpoints": (s, who, t) => s.workflows.checkpoints(who, t.wid),
  "workflows.checkpointAt": (s, who, t) => s.workflows.checkpointAt(who, t.wid, "latest"),
  "workflows.lease": (s, who, t) => s.workflows.lease(who, t.wid),
  "workflows.acquireLease": (s, who, t) => s.workflows.acquireLease(who, t.wid, { owner: "intruder" }),
  "workflows.renewLease": (s, who, t) => s.workflows.renewLease(who, t.wid, { fencingToken: 1 }),
  "workflows.releaseLease": (s, who, t) => s.workflows.releaseLease(who, t.wid, { fencingToken: 1 }),
  "workflows.events": (s, who, t) => Array.fromAsync(s.workflows.events(who, t.wid, { signal: soon() })),
  "memories.get": (s, who, t) => s.memories.get(who, t.aid, t.id),
  "memories.patch": (s, who, t) => s.memories.patch(who, t.aid, t.id, { content: "mine" }, { ifMatch: t.etags.memory }),
  "memories.delete": (s, who, t) => s.memories.delete(who, t.aid, t.id, { ifMatch: t.etags.memory }),
  "memories.thread": (s, who, t) => s.memories.thread(who, t.aid, t.id),
  "memories.session": (s, who, t) => s.memories.session(who, t.aid, t.sid),
  "memories.session, a unit": (s, who, t) => s.memories.session(who, t.aid, t.unit),
  "memories.fork": (s, who, t) => s.memories.fork(who, t.aid, t.sid, { session_id: "mine" }),
  "threads.get": (s, who, t) => s.threads.get(who, t.threadId, t.id),
  "threads.deleteMessage": (s, who, t) => s.threads.deleteMessage(who, t.threadId, t.id, { ifMatch: t.etags.message }),
  "systemThreads.get": (s, who, t) => s.systemThreads.get(who, t.threadId, t.id),
  "systemThreads.deleteMessage": (s, who, t) => s.systemThreads.deleteMessage(who, t.threadId, t.id),
  "entities.get": (s, who, t) => s.entities.get(who, t.agentId),
  "entities.delete": (s, who, t) => s.entities.delete(who, t.agentId, { ifMatch: t.etags.entity }),
  "tools.get": (s, who, t) => s.tools.get(who, t.date, t.id),
  "tools.deleteRule": (s, who, t) => s.tools.deleteRule(who, t.tool),
  "metrics.forgetName": (s, who, t) => s.metrics.forgetName(who, `custom.${t.name}`),
  "metrics.forgetName of a dimension": (s, who, t) => s.metrics.forgetName(who, `dimensions.${t.name}`),
  "containers.get": (s, who, t) => s.containers.get(who, t.c),
  "containers.delete": (s, who, t) => s.containers.delete(who, t.c),
  "containers.indexes": (s, who, t) => s.containers.indexes(who, t.c),
  "containers.create": (s, who, t) => s.containers.create(who, t.c, kept(t)),
  "containers.upsert": (s, who, t) => s.containers.upsert(who, t.c, kept(t), { ifMatch: t.etags.item }),
  "containers.replace": (s, who, t) => s.containers.replace(who, t.c, kept(t), { ifMatch: t.etags.item }),
  "containers.read": (s, who, t) => s.containers.read(who, t.c, t.pk, t.id),
  "containers.read, a memory": (s, who, t) => s.containers.read(who, "agent-memories", t.aid, t.id),
  "containers.read, a lease": (s, who, t) => s.containers.read(who, "workflow-states", t.wid, "~lease"),
  "containers.patch": (s, who, t) =>
    s.containers.patch(who, t.c, t.pk, t.id, [{ op: "set", path: "/text", value: "mine" }]),
  "containers.patch, a metric": (s, who, t) =>
    s.containers.patch(who, "agent-metrics", t.date, t.id, [{ op: "set", path: "/value", value: 0 }]),
  "containers.deleteItem": (s, who, t) => s.containers.deleteItem(who, t.c, t.pk, t.id),
  "containers.deleteItem, a workflow": (s, who, t) => s.containers.deleteItem(who, "workflow-states", t.wid, t.wid),
  "containers.readMany": (s, who, t) => s.containers.readMany(who, t.c, [{ pk: t.pk, id: t.id }]),
  "containers.batch": (s, who, t) => s.containers.batch(who, t.c, t.pk, [{ op: "read", id: t.id }]),
  "containers.batch, a thread": (s, who, t) =>
    s.containers.batch(who, "thread-message-store", t.threadId, [{ op: "delete", id: t.id }]),
  "containers.bulk": (s, who, t) => s.containers.bulk(who, t.c, [{ op: "upsert", document: kept(t) }]),
  "containers.query": (s, who, t) => s.containers.query(who, t.c, question),
  "containers.explain": (s, who, t) => s.containers.explain(who, t.c, question),
  "containers.changes": (s, who, t) => s.containers.changes(who, t.c, { mode: "all" }),
  "containers.write": (s, who, t) => s.containers.write(who, t.c, t.pk, { op: "read", id: t.id }),
  "containers.querySql": (s, who, t) => s.containers.querySql(who, t.c, question),
  "containers.storedName": (s, who, t) => s.containers.storedName(who, t.c),
  "containers.setDefaultTtl": (s, who, t) => s.containers.setDefaultTtl(who, t.c, 5),
  "databases.get": (s, who, t) => s.databases.get(who, t.base),
  "databases.delete": (s, who, t) => s.databases.delete(who, t.base),
  "databases.setDatabaseThroughput": (s, who, t) => s.databases.setDatabaseThroughput(who, t.base, { ru: 400 }),
  "databases.containers": (s, who, t) => s.databases.containers(who, t.base),
  "databases.container": (s, who, t) => s.databases.container(who, t.base, t.kept),
  "databases.container, a moment ago": (s, who, t) => s.databases.container(who, t.base, t.kept, { fresh: false }),
  "databases.container of the default one": (s, who, t) => s.databases.container(who, t.home, t.c),
  "databases.replaceContainer": async (s, who, t) =>
    s.databases.replaceContainer(who, await s.databases.container(who, t.base, t.kept), { partition_key: "/p" }, {}),
  "databases.setDefaultTtl": async (s, who, t) =>
    s.databases.setDefaultTtl(who, await s.databases.container(who, t.base, t.kept), 5),
  "databases.deleteContainer": async (s, who, t) =>
    s.databases.deleteContainer(who, await s.databases.container(who, t.base, t.kept)),
  "databases.setThroughput": async (s, who, t) =>
    s.databases.setThroughput(who, await s.databases.container(who, t.base, t.kept), { ru: 400 }),
  "containers.deletePartition": (s, who, t) => s.containers.deletePartition(who, t.c, t.pk),
};

/** Names nothing, or what need not be there: answers, without a trace of what is not the caller's. */
export const onEverything: Readonly<Record<string, Attempt>> = {
  "workflows.getText": (s, who, t) => s.workflows.getText(who, t.wid),
  "workflows.list": (s, who) => s.workflows.list(who, { limit: 100 }),
  "workflows.list of a type": (s, who) => s.workflows.list(who, { type: "saga", status: "in_progress" }),
  "workflows.stats": (s, who) => s.workflows.stats(who),
  "memories.list": (s, who, t) => s.memories.list(who, t.aid, { session_id: t.sid }),
  "memories.list by relevance": (s, who, t) => s.memories.list(who, t.aid, { sort: "relevance" }),
  "memories.agents": (s, who) => s.memories.agents(who, { limit: 100 }),
  "memories.sessions": (s, who, t) => s.memories.sessions(who, t.aid),
  "memories.deleteSession": (s, who, t) => s.memories.deleteSession(who, t.aid, t.sid),
  "memories.deleteSession, a unit": (s, who, t) => s.memories.deleteSession(who, t.aid, t.unit),
  "memories.context": (s, who, t) => s.memories.context(who, { agent_id: t.aid, session_id: t.sid, maxTokens: 1_000 }),
  "memories.search": (s, who, t) => s.memories.search(who, { query: "launch code", agent_id: t.aid, mode: "keyword" }),
  "threads.list": (s, who, t) => s.threads.list(who, t.threadId),
  "threads.clear": (s, who, t) => s.threads.clear(who, t.threadId),
  "systemThreads.list": (s, who, t) => s.systemThreads.list(who, t.threadId),
  "systemThreads.clear": (s, who, t) => s.systemThreads.clear(who, t.threadId),
  "metrics.list": (s, who, t) => s.metrics.list(who, { agent_id: t.aid }),
  "metrics.aggregate": (s, who, t) =>
    s.metrics.aggregate(who, { aggregates: all, group_by: ["agent_id"], ...bothDays(t) }),
  "metrics.aggregate by a custom dimension": (s, who, t) =>
    s.metrics.aggregate(who, {
      aggregates: all,
      group_by: [`dimensions.${t.name}`],
      filter: { metric_type: `custom.${t.name}` },
      ...bothDays(t),
    }),
  "metrics.list of a custom type": (s, who, t) => s.metrics.list(who, { metric_type: `custom.${t.name}` }),
  "metrics.names": (s, who) => s.metrics.names(who),
  "metrics.rollups": (s, who, t) => s.metrics.rollups(who, { from: `${t.dayBefore}T00:00:00Z` }),
  "tools.list": (s, who, t) => s.tools.list(who, { tool_name: t.tool }),
  "tools.aggregate": (s, who, t) =>
    s.tools.aggregate(who, { aggregates: all, filter: { tool_name: t.tool }, ...bothDays(t) }),
  "tools.export": (s, who) => Array.fromAsync(s.tools.export(who, { format: "csv" })),
  "tools.rules": (s, who) => s.tools.rules(who),
  "tools.settings": (s, who) => s.tools.settings(who),
  "tools.verifyChain": (s, who, t) => s.tools.verifyChain(who, t.date),
  "containers.list": (s, who) => s.containers.list(who),
  "databases.list": (s, who) => s.databases.list(who),
  "databases.containers of the default one": (s, who, t) => s.databases.containers(who, t.home),
  "containers.readMany of the system's": (s, who, t) =>
    s.containers.readMany(who, "agent-memories", [{ pk: t.aid, id: t.id }]),
  "containers.query of the system's": (s, who) =>
    s.containers.query(who, "tool-invocations", { query: 'SELECT * FROM c WHERE c.workspace_id = "acme"' }),
  "containers.query by an index": (s, who) =>
    s.containers.query(who, "agent-metrics", { index: "byTime", equals: { workspace_id: "acme" } }),
  "containers.explain of the system's": (s, who) => s.containers.explain(who, "agent-memories", question),
  "containers.bulk of the system's": (s, who, t) =>
    s.containers.bulk(who, "agent-memories", [{ op: "delete", pk: t.aid, id: t.id }]),
  "containers.deletePartition of the system's": (s, who, t) =>
    s.containers.deletePartition(who, "agent-entity-store", t.agentId),
};

/** Makes something: under a name that is taken elsewhere, as if it were free. */
export const making: Readonly<Record<string, Attempt>> = {
  "workflows.create": (s, who, t) => s.workflows.create(who, flow(t)),
  "memories.append": (s, who, t) => s.memories.append(who, said(t)),
  "memories.appendMany": (s, who, t) => s.memories.appendMany(who, t.aid, [said(t)], { ttlUnit: "session" }),
  "threads.append": (s, who, t) => s.threads.append(who, t.threadId, { id: t.id }),
  "threads.appendMany": (s, who, t) => s.threads.appendMany(who, t.threadId, [{ id: t.id }, {}]),
  "systemThreads.append": (s, who, t) => s.systemThreads.append(who, t.threadId, { id: t.id }),
  "systemThreads.appendMany": (s, who, t) => s.systemThreads.appendMany(who, t.threadId, [{ id: t.id }, {}]),
  "entities.put": (s, who, t) => s.entities.put(who, t.agentId, { mine: true }, { must: "absent" }),
  "metrics.ingest": (s, who, t) => s.metrics.ingest(who, [metric(t)], { allOrNothing: true }),
  "metrics.ingest of a custom type": (s, who, t) =>
    s.metrics.ingest(
      who,
      [{ ...metric(t), id: `own-${t.id}`, metric_type: `custom.${t.name}`, dimensions: { [t.name]: "mine" } }],
      { allOrNothing: true },
    ),
  "metrics.ingestLines": (s, who, t) =>
    s.metrics.ingestLines(who, [{ line: 1, value: metric(t) }], { allOrNothing: true }),
  "tools.create": (s, who, t) => s.tools.create(who, called(t)),
  "tools.ingest": (s, who, t) => s.tools.ingest(who, [called(t)], { allOrNothing: true }),
  "tools.ingestLines": (s, who, t) => s.tools.ingestLines(who, [{ line: 1, value: called(t) }], { allOrNothing: true }),
  "tools.putRule": (s, who, t) => s.tools.putRule(who, { tool_name: t.tool, sensitive: true }),
  "tools.putSettings": (s, who) => s.tools.putSettings(who, { hash_chain: false }),
  "databases.create": (s, who, t) => s.databases.create(who, t.base),
  "databases.createContainer": async (s, who, t) => {
    await s.databases.create(who, t.base);
    return s.databases.createContainer(who, t.base, { name: t.kept, spec: { partition_key: "/p" } });
  },
  "containers.put": (s, who, t) => s.containers.put(who, t.c, { partition_key: "/another" }),
  "containers.changes of the system's": (s, who) => s.containers.changes(who, "workflow-states", { mode: "all" }),
  "telemetry.traces": (s, who) => s.telemetry.traces(who, otlp({ resourceSpans: [] }), json),
  "telemetry.metrics": (s, who) => s.telemetry.metrics(who, otlp({ resourceMetrics: [] }), json),
  "telemetry.logs": (s, who) => s.telemetry.logs(who, otlp({ resourceLogs: [] }), json),
};

/** `open` and `process` are called by whoever opens Pinakes, for all workspaces; `versionOf` knows only what it is given. */
export const withoutCaller: readonly string[] = ["open", "process", "versionOf", "createThrough"];
