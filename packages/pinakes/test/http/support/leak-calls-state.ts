/**
 * How each operation about agents' state is called against another workspace's things: workflows, memories, threads, metrics and tools
 * here, containers and telemetry beside. The walk fails for an operation that has no entry, so a new route cannot be forgotten.
 */
import type { Etags, Names } from "../../state/support/secret-state.ts";
import { containerCalls } from "./leak-calls-containers.ts";
import { telemetryCalls } from "./leak-calls-telemetry.ts";

/** Operations of these tags are about agents' state. Every caller of a workspace may all in it, so only other workspaces are outsiders. */
export const stateTags: ReadonlySet<string> = new Set([
  "workflows",
  "memories",
  "threads",
  "metrics",
  "tools",
  "telemetry",
  "containers",
]);

/** What a call is about: names, and versions that somebody may have seen. */
export interface StateTarget extends Names {
  readonly etags: Etags;
}

/**
 * thing    names something: 404
 * empty    answers 200 with nothing in it
 * refused  is wrong in itself: `status`
 * foreign  says that its document is of workspace w1: 403, or 200 with 403 for each line
 * makes    makes something under the same name, in the caller's own workspace: 200 or 201
 *
 * Whatever it is, the answer is that to the same call about what never was, to the byte (but for ids, versions and times of what a
 * call makes).
 */
export type StateKind = "thing" | "empty" | "refused" | "foreign" | "makes";

export interface StateCall {
  readonly kind: StateKind;
  /** Parameters of the path, where they are not the target's. */
  readonly params?: (target: StateTarget) => Readonly<Record<string, string>>;
  readonly query?: (target: StateTarget) => string;
  readonly body?: (target: StateTarget) => unknown;
  readonly headers?: (target: StateTarget) => Readonly<Record<string, string>>;
  readonly status?: number;
  /** A POST that keys which may only read may send. */
  readonly changes?: false;
  /** 403 for everybody else, whatever it is about. */
  readonly adminsOnly?: true;
  /** Does not end where the thing is there. */
  readonly streams?: true;
}

const thing: StateCall = { kind: "thing" };
const empty: StateCall = { kind: "empty" };
const sending = (kind: StateKind, body: StateCall["body"] & {}, more: Partial<StateCall> = {}): StateCall => ({
  kind,
  body,
  ...more,
});
const asking = (kind: StateKind, query: string, more: Partial<StateCall> = {}): StateCall => ({
  kind,
  query: () => query,
  ...more,
});
const matching = (sort: keyof Etags, more: Partial<StateCall> = {}): StateCall => ({
  ...thing,
  headers: ({ etags }) => ({ "if-match": `"${etags[sort]}"` }),
  ...more,
});
const seen = (sort: keyof Etags): StateCall => ({
  ...thing,
  headers: ({ etags }) => ({ "if-none-match": `"${etags[sort]}"` }),
});
const verb: readonly StateCall[] = [thing, asking("thing", "fencing_token=1"), matching("workflow")];

const newWorkflow = ({ wid }: Names) => ({
  id: wid,
  workflow_id: wid,
  type: "sequential",
  name: "Mine",
  total_steps: 2,
});
const newCheckpoint = { step: 1, state: { mine: true } };

const workflowCalls: Readonly<Record<string, readonly StateCall[]>> = {
  createWorkflow: [
    sending("makes", newWorkflow),
    sending("makes", (t) => ({
      ...newWorkflow(t),
      checkpoints: [{ step: 0, timestamp: "2026-01-01T00:00:00Z", state: {}, agent_context: {} }],
    })),
    sending("foreign", (t) => ({ ...newWorkflow(t), workspace_id: "w1" })),
  ],
  listWorkflows: [empty, asking("empty", "status=in_progress"), asking("empty", "type=saga&order=asc&limit=1")],
  countWorkflows: [empty],
  getWorkflow: [thing, asking("thing", "checkpoints=none"), seen("workflow")],
  updateWorkflow: [
    sending("thing", () => ({ description: "taken over" })),
    matching("workflow", { body: () => ({ description: "taken over" }) }),
    sending("thing", () => ({ status: "cancelled" }), { headers: () => ({ "x-fencing-token": "1" }) }),
  ],
  deleteWorkflow: verb,
  startWorkflow: verb,
  pauseWorkflow: verb,
  cancelWorkflow: verb,
  completeWorkflow: verb,
  retryWorkflow: verb,
  skipWorkflow: verb,
  failWorkflow: [...verb, sending("thing", () => ({ error_type: "mine", error_message: "x" }))],
  resumeWorkflow: [...verb, sending("thing", () => ({ owner: "intruder" }))],
  setWorkflowAgent: [
    sending("thing", () => ({ status: "completed" })),
    matching("workflow", { body: () => ({ status: "skipped" }) }),
  ],
  addCheckpoint: [
    sending("thing", () => newCheckpoint),
    sending("thing", () => newCheckpoint, { query: () => "fencing_token=1" }),
  ],
  listCheckpoints: [thing, asking("thing", "limit=1&order=desc")],
  getCheckpoint: [thing, { ...thing, params: () => ({ step: "latest" }) }],
  getLease: [thing],
  acquireLease: [sending("thing", () => ({ owner: "intruder" }))],
  renewLease: [sending("thing", () => ({ fencing_token: 1 }))],
  releaseLease: [asking("thing", "fencing_token=1")],
  followWorkflow: [{ ...thing, streams: true }],
};

const said = ({ sid }: Names) => ({ session_id: sid, content: "mine", message_type: "user" });
const search = { query: "launch code", limit: 100 };

const memoryCalls: Readonly<Record<string, readonly StateCall[]>> = {
  appendMemories: [
    sending("makes", (t) => ({ ...said(t), id: t.id })),
    sending("makes", (t) => ({ messages: [{ ...said(t), id: t.id }, said(t)] })),
    sending("makes", (t) => ({ ...said(t), session_id: t.unit, ttl: 60 }), { query: () => "ttl_unit=session" }),
    sending("makes", (t) => ({ ...said(t), parent_message_id: t.id }), { query: () => "allow_dangling=true" }),
    sending("refused", (t) => ({ ...said(t), parent_message_id: t.id }), { status: 400 }),
    sending("foreign", (t) => ({ ...said(t), workspace_id: "w1" })),
    sending("foreign", (t) => ({ messages: [said(t), { ...said(t), workspace_id: "w1" }] })),
  ],
  listMemories: [
    empty,
    { ...empty, query: ({ sid }) => `session_id=${sid}&message_type=user&order=desc` },
    asking("empty", "sort=relevance"),
  ],
  getMemory: [
    thing,
    seen("memory"),
    { ...thing, params: ({ id }) => ({ id: `root-${id}` }) },
    { ...thing, params: ({ unit }) => ({ id: `~session-${unit}` }) },
  ],
  changeMemory: [
    sending("thing", () => ({ content: "mine" })),
    matching("memory", { body: () => ({ content: "mine" }) }),
  ],
  deleteMemory: [thing, matching("memory")],
  getMemoryThread: [thing],
  listAgents: [empty, asking("empty", "limit=1")],
  listSessions: [empty],
  getSession: [
    thing,
    { ...thing, params: ({ unit }) => ({ sid: unit }) },
    { ...thing, params: ({ sid }) => ({ sid: `fork-${sid}` }) },
  ],
  deleteSession: [empty, { ...empty, params: ({ unit }) => ({ sid: unit }) }],
  listSessionMessages: [empty, asking("empty", "sort=relevance&limit=1")],
  forkSession: [
    sending("thing", () => ({ session_id: "mine" })),
    sending("thing", ({ id }) => ({ session_id: "mine", up_to: id })),
  ],
  getContext: [asking("empty", "max_tokens=1000"), asking("empty", "max_tokens=1000&strategy=relevance")],
  searchMemories: [
    sending("empty", () => ({ ...search, mode: "keyword" }), { changes: false }),
    sending("empty", () => search, { changes: false }),
    sending("empty", ({ aid, sid }) => ({ ...search, agent_id: aid, session_id: sid, mode: "semantic" }), {
      changes: false,
    }),
  ],
};

const ofThread = (name: string): Readonly<Record<string, readonly StateCall[]>> => ({
  [`append${name}Messages`]: [
    sending("makes", ({ id }) => ({ id, text: "mine" })),
    sending("makes", ({ id }) => ({ messages: [{ id, text: "mine" }, { text: "more" }] })),
    sending("foreign", ({ id }) => ({ id, workspace_id: "w1" })),
  ],
  [`list${name}Messages`]: [empty, asking("empty", "order=desc&limit=1")],
  [`clear${name}`]: [empty],
  [`get${name}Message`]: [thing, seen("message"), { ...thing, params: () => ({ id: "~thread" }) }],
  [`delete${name}Message`]: [thing, matching("message")],
});

const threadCalls: Readonly<Record<string, readonly StateCall[]>> = {
  ...ofThread("Thread"),
  ...ofThread("SystemThread"),
  getAgentEntity: [thing, seen("entity")],
  putAgentEntity: [
    sending("makes", () => ({ mine: true })),
    sending("makes", () => ({ mine: true }), { headers: () => ({ "if-none-match": "*" }) }),
    matching("entity", { kind: "refused", status: 412, body: () => ({ mine: true }) }),
    sending("foreign", () => ({ workspace_id: "w1" })),
  ],
  deleteAgentEntity: [thing, matching("entity")],
};

const metric = ({ id, aid }: Names) => ({ id, agent_id: aid, metric_type: "cost", value: 1 });
const invocation = ({ id, aid, sid, tool }: Names) => ({
  id,
  agent_id: aid,
  session_id: sid,
  tool_name: tool,
  status: "success",
  duration_ms: 1,
});
/** A time that is the same in two calls: the answer tells it. */
const every = ({ dayBefore, date }: Names) => ({
  aggregates: ["count", "sum", "p99"],
  group_by: ["agent_id"],
  from: `${dayBefore}T00:00:00Z`,
  to: `${date}T23:59:59Z`,
});
const span = ({ dayBefore }: Names) => `from=${dayBefore}T00:00:00Z`;
const ndjson = { headers: () => ({ "content-type": "application/x-ndjson" }) };
const lines = (...rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const seriesCalls: Readonly<Record<string, readonly StateCall[]>> = {
  ingestMetrics: [
    sending("makes", (t) => ({ items: [metric(t)] }), { query: () => "all_or_nothing=true&report=all" }),
    sending("makes", (t) => lines(metric(t)), ndjson),
    sending("makes", (t) => ({
      items: [{ ...metric(t), id: `own-${t.id}`, metric_type: `custom.${t.name}`, dimensions: { [t.name]: "mine" } }],
    })),
    sending("foreign", (t) => ({ items: [{ ...metric(t), workspace_id: "w1" }] }), { status: 200 }),
    sending("foreign", (t) => lines({ ...metric(t), workspace_id: "w1" }), {
      ...ndjson,
      status: 200,
      query: () => "all_or_nothing=true",
    }),
  ],
  listMetrics: [empty, { ...empty, query: (t) => `${span(t)}&agent_id=${t.aid}&metric_type=cost&order=asc` }],
  aggregateMetrics: [
    sending("empty", (t) => ({ ...every(t), bucket: "hour" }), { changes: false }),
    sending("empty", (t) => ({ ...every(t), filter: { agent_id: t.aid } }), { changes: false }),
    sending(
      "empty",
      (t) => ({ ...every(t), group_by: [`dimensions.${t.name}`], filter: { metric_type: `custom.${t.name}` } }),
      { changes: false },
    ),
  ],
  listMetricNames: [empty],
  forgetMetricName: [
    { ...thing, adminsOnly: true, params: ({ name }) => ({ name: `custom.${name}` }) },
    { ...thing, adminsOnly: true, params: ({ name }) => ({ name: `dimensions.${name}` }) },
  ],
  listRollups: [empty, { ...empty, query: span }],
  ingestToolInvocations: [
    sending("makes", (t) => ({ items: [invocation(t)] }), { query: () => "all_or_nothing=true&report=all" }),
    sending("makes", (t) => lines(invocation(t)), ndjson),
    sending("foreign", (t) => ({ items: [{ ...invocation(t), workspace_id: "w1" }] }), { status: 200 }),
  ],
  listToolInvocations: [
    empty,
    { ...empty, query: (t) => `${span(t)}&tool_name=${t.tool}` },
    { ...empty, query: (t) => `session_id=${t.sid}` },
    { ...empty, query: (t) => `workflow_id=${t.wid}` },
    { ...empty, query: (t) => `agent_id=${t.aid}&status=success` },
  ],
  aggregateToolInvocations: [
    sending("empty", (t) => every(t), { changes: false }),
    sending("empty", (t) => ({ ...every(t), filter: { tool_name: t.tool } }), { changes: false }),
  ],
  exportToolInvocations: [
    { ...empty, query: (t) => `${span(t)}&format=ndjson` },
    { ...empty, query: (t) => `format=csv&tool_name=${t.tool}` },
  ],
  getToolInvocation: [
    thing,
    { ...thing, params: ({ id, dayBefore }) => ({ id: `before-${id}`, date: dayBefore }) },
    { ...thing, params: () => ({ id: "~chain" }) },
  ],
  listRedactionRules: [empty],
  putRedactionRule: [sending("makes", () => ({ sensitive: true }), { adminsOnly: true })],
  deleteRedactionRule: [{ ...thing, adminsOnly: true }],
  getToolLogSettings: [empty],
  putToolLogSettings: [sending("makes", () => ({ hash_chain: false }), { adminsOnly: true })],
  verifyToolChain: [empty, { ...empty, params: ({ dayBefore }) => ({ date: dayBefore }) }],
};

export const howToCallState: Readonly<Record<string, readonly StateCall[]>> = {
  ...workflowCalls,
  ...memoryCalls,
  ...threadCalls,
  ...seriesCalls,
  ...telemetryCalls,
  ...containerCalls,
};
