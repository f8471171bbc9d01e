/** How containers are asked for another workspace's documents: those of its own container, and those of its features in the system's. */
import type { StateCall, StateTarget } from "./leak-calls-state.ts";

type Calls = readonly StateCall[];
interface Place {
  readonly c: string;
  readonly pk: string;
  readonly id: string;
}

const own = ({ c, pk, id }: StateTarget): Place => ({ c, pk, id });
/** A document of each container of the system, by the names that its feature gave it. */
const system: readonly ((target: StateTarget) => Place)[] = [
  ({ wid }) => ({ c: "workflow-states", pk: wid, id: wid }),
  ({ wid }) => ({ c: "workflow-states", pk: wid, id: "~lease" }),
  ({ aid, id }) => ({ c: "agent-memories", pk: aid, id }),
  ({ aid, unit }) => ({ c: "agent-memories", pk: aid, id: `~session-${unit}` }),
  ({ date, id }) => ({ c: "agent-metrics", pk: date, id }),
  ({ date }) => ({ c: "agent-metrics", pk: date, id: "~stamp" }),
  ({ date, id }) => ({ c: "tool-invocations", pk: date, id }),
  ({ date }) => ({ c: "tool-invocations", pk: date, id: "~chain" }),
  ({ threadId, id }) => ({ c: "thread-message-store", pk: threadId, id }),
  ({ threadId, id }) => ({ c: "system-thread-message-store", pk: threadId, id }),
  ({ agentId }) => ({ c: "agent-entity-store", pk: agentId, id: agentId }),
];
const inSystem = (call: (place: (target: StateTarget) => Place) => StateCall, but: readonly string[] = []): Calls =>
  system.filter((place) => !but.some((text) => JSON.stringify(place(nameless)).includes(text))).map(call);
const nameless = { wid: "", aid: "", sid: "", unit: "", id: "", threadId: "", agentId: "", date: "" } as StateTarget;
const companions = '"~';

const params = (place: (target: StateTarget) => Place) => (target: StateTarget) => ({
  c: place(target).c,
  id: place(target).id,
});
const query = (place: (target: StateTarget) => Place) => (target: StateTarget) =>
  `pk=${encodeURIComponent(place(target).pk)}`;
const at = (place: (target: StateTarget) => Place) => ({ params: params(place), query: query(place) });

const patch = { operations: [{ op: "set", path: "/text", value: "mine" }] };
const selectAll = { query: "SELECT * FROM c" };
const count = { query: "SELECT VALUE COUNT(1) FROM c" };
const theirs = { query: 'SELECT * FROM c WHERE c.workspace_id = "w1"' };
const mine = ({ id, pk }: StateTarget) => ({ id, owner: pk, text: "mine" });
const entity = ({ agentId }: StateTarget) => ({ id: agentId, agentId, mine: true });
const memory = ({ aid, sid, id }: StateTarget) => ({
  id,
  agent_id: aid,
  session_id: sid,
  content: "mine",
  message_type: "user",
});
const metric = ({ aid, id }: StateTarget) => ({ id, agent_id: aid, metric_type: "cost", value: 1 });
const into = (c: string) => ({ params: () => ({ c }) });
const ifMatch = (sort: "item" | "container") => ({
  headers: ({ etags }: StateTarget) => ({ "if-match": `"${etags[sort]}"` }),
});
const reads = { changes: false } as const;
const appendOnly = ["tool-invocations"];

/** Each question, to the own container and to all of the system's. */
const questions = (bodies: readonly object[]): Calls => [
  ...bodies.map((body): StateCall => ({ kind: "thing", body: () => body, ...reads })),
  ...inSystem((place) => ({ kind: "empty", params: params(place), body: () => selectAll, ...reads }), [companions]),
];

const itemCalls: Readonly<Record<string, Calls>> = {
  createItem: [
    { kind: "thing", body: mine },
    { kind: "thing", body: mine, query: () => "upsert=true", ...ifMatch("item") },
    { kind: "makes", body: entity, ...into("agent-entity-store") },
    { kind: "makes", body: memory, ...into("agent-memories") },
    { kind: "makes", body: metric, ...into("agent-metrics") },
    {
      kind: "makes",
      body: ({ threadId, id }) => ({ threadId, id }),
      query: () => "upsert=true",
      ...into("thread-message-store"),
    },
    { kind: "refused", status: 400, body: ({ date, id }) => ({ tool_date: date, id }), ...into("tool-invocations") },
    { kind: "foreign", body: (t) => ({ ...memory(t), workspace_id: "w1" }), ...into("agent-memories") },
    {
      kind: "foreign",
      body: (t) => ({ ...entity(t), workspace_id: "w1" }),
      query: () => "upsert=true",
      ...into("agent-entity-store"),
    },
    { kind: "foreign", body: (t) => ({ ...metric(t), workspace_id: "w1" }), ...into("agent-metrics") },
  ],
  getItem: [
    { kind: "thing", ...at(own) },
    { kind: "thing", ...at(own), headers: ({ etags }) => ({ "if-none-match": `"${etags.item}"` }) },
    ...inSystem((place) => ({ kind: "thing", ...at(place) })),
  ],
  replaceItem: [
    { kind: "thing", body: mine },
    { kind: "thing", body: mine, ...ifMatch("item") },
    { kind: "thing", body: entity, params: ({ agentId }) => ({ c: "agent-entity-store", id: agentId }) },
    { kind: "thing", body: memory, ...into("agent-memories") },
    { kind: "makes", body: memory, ...into("agent-memories"), headers: () => ({ "if-none-match": "*" }) },
  ],
  patchItem: [
    { kind: "thing", ...at(own), body: () => patch },
    { kind: "thing", ...at(own), body: () => ({ ...patch, condition: "from c where true" }), ...ifMatch("item") },
    ...inSystem((place) => ({ kind: "thing", ...at(place), body: () => patch }), [companions, ...appendOnly]),
  ],
  deleteItem: [
    { kind: "thing", ...at(own) },
    { kind: "thing", ...at(own), ...ifMatch("item") },
    ...inSystem((place) => ({ kind: "thing", ...at(place) }), [companions, ...appendOnly]),
  ],
};

const manyCalls: Readonly<Record<string, Calls>> = {
  readManyItems: [
    { kind: "thing", body: ({ pk, id }) => ({ keys: [{ pk, id }] }), ...reads },
    ...inSystem((place) => ({
      kind: "empty",
      params: params(place),
      body: (t) => ({ keys: [{ pk: place(t).pk, id: place(t).id }] }),
      ...reads,
    })),
  ],
  batchItems: [
    { kind: "thing", body: (t) => ({ pk: t.pk, operations: [{ op: "create", document: mine(t) }] }) },
    ...inSystem(
      (place) => ({
        kind: "thing",
        params: params(place),
        body: (t) => ({ pk: place(t).pk, operations: [{ op: "read", id: place(t).id }] }),
      }),
      [companions, ...appendOnly],
    ),
    {
      kind: "refused",
      status: 404,
      body: ({ aid, id }) => ({ pk: aid, operations: [{ op: "delete", id }] }),
      ...into("agent-memories"),
    },
    {
      kind: "makes",
      body: (t) => ({ pk: t.agentId, operations: [{ op: "upsert", document: entity(t) }] }),
      ...into("agent-entity-store"),
    },
    {
      kind: "makes",
      body: ({ agentId, id }) => ({ pk: agentId, operations: [{ op: "check", id, exists: false }] }),
      ...into("agent-entity-store"),
    },
    {
      kind: "foreign",
      body: (t) => ({ pk: t.agentId, operations: [{ op: "upsert", document: { ...entity(t), workspace_id: "w1" } }] }),
      ...into("agent-entity-store"),
    },
  ],
  bulkItems: [
    { kind: "thing", body: (t) => ({ operations: [{ op: "upsert", document: mine(t) }] }) },
    {
      kind: "makes",
      body: (t) => ({ operations: [{ op: "upsert", document: entity(t) }] }),
      ...into("agent-entity-store"),
    },
    {
      kind: "makes",
      body: ({ aid, id }) => ({ operations: [{ op: "delete", pk: aid, id }] }),
      ...into("agent-memories"),
    },
    {
      kind: "makes",
      body: ({ aid, id }) => ({ operations: [{ op: "patch", pk: aid, id, ...patch }] }),
      ...into("agent-memories"),
    },
    {
      kind: "foreign",
      status: 200,
      body: (t) => ({ operations: [{ op: "upsert", document: { ...entity(t), workspace_id: "w1" } }] }),
      ...into("agent-entity-store"),
    },
  ],
  deletePartition: [
    { kind: "thing" },
    ...inSystem(
      (place) => ({ kind: "empty", params: (t) => ({ c: place(t).c, pk: place(t).pk }) }),
      [companions, ...appendOnly],
    ),
  ],
};

const askCalls: Readonly<Record<string, Calls>> = {
  queryContainer: [
    ...questions([selectAll, { index: "byTag", equals: { tag: "x" } }, { equals: { owner: "x" } }]),
    ...inSystem((place) => ({ kind: "empty", params: params(place), body: () => theirs, ...reads }), [companions]),
    ...inSystem((place) => ({ kind: "empty", params: params(place), body: () => count, ...reads }), [companions]),
    ...inSystem(
      (place) => ({ kind: "empty", params: params(place), body: (t) => ({ ...selectAll, pk: place(t).pk }), ...reads }),
      [companions],
    ),
    {
      kind: "empty",
      ...into("agent-metrics"),
      body: () => ({ index: "byTime", equals: { workspace_id: "w1" } }),
      ...reads,
    },
    {
      kind: "empty",
      ...into("agent-metrics"),
      body: ({ aid }) => ({ index: "byAgent", equals: { agent_id: aid } }),
      ...reads,
    },
    {
      kind: "empty",
      ...into("tool-invocations"),
      body: ({ tool }) => ({ index: "byTool", equals: { tool_name: tool } }),
      ...reads,
    },
    { kind: "empty", ...into("workflow-states"), body: ({ wid }) => ({ equals: { workflow_id: wid } }), ...reads },
  ],
  explainContainerQuery: questions([selectAll]),
  containerChanges: [
    { kind: "thing" },
    { kind: "thing", query: () => "mode=all&from=oldest" },
    { kind: "thing", headers: () => ({ accept: "text/event-stream" }), streams: true },
    ...inSystem(
      (place) => ({ kind: "empty", params: params(place), query: () => "mode=all" }),
      [companions, "agent-metrics"],
    ),
    { kind: "refused", status: 501, ...into("agent-metrics") },
  ],
};

const spec = { partition_key: "/owner", indexes: { byTag: { partition: ["tag"], sort: ["at"] } } };

export const containerCalls: Readonly<Record<string, Calls>> = {
  // The containers of the system are there, the same for everybody.
  listContainers: [{ kind: "empty" }],
  putContainer: [
    { kind: "makes", body: () => spec },
    { kind: "makes", body: () => ({ partition_key: "/quite/another" }) },
    { kind: "makes", body: () => spec, headers: () => ({ "if-none-match": "*" }) },
    { kind: "refused", status: 412, body: () => spec, ...ifMatch("container") },
  ],
  getContainer: [
    { kind: "thing" },
    { kind: "thing", headers: ({ etags }) => ({ "if-none-match": `"${etags.container}"` }) },
  ],
  deleteContainer: [{ kind: "thing" }],
  listContainerIndexes: [{ kind: "thing" }],
  ...itemCalls,
  ...manyCalls,
  ...askCalls,
};
