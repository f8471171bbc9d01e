/**
 * One of everything that state can hold, in one workspace: names that an attacker may know, and texts, tags, users and figures that
 * nobody else may ever see.
 */
import { randomBytes } from "node:crypto";
import type { Caller } from "../../../src/domain/caller.ts";
import type { State } from "../../../src/state/index.ts";

/** What things are called. Parameters of paths have the same names. */
export interface Names {
  readonly wid: string;
  readonly aid: string;
  readonly sid: string;
  /** A session that ends as a unit. */
  readonly unit: string;
  /** Of a memory, messages of threads, a metric, a tool invocation and an item of the own container. */
  readonly id: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly tool: string;
  /** Of a custom type of metrics, and of a custom dimension. */
  readonly name: string;
  /** The own container, and the partition of its item. */
  readonly c: string;
  readonly pk: string;
  /** A database, and the container in it. */
  readonly base: string;
  readonly kept: string;
  /** The default database. */
  readonly home: string;
  readonly step: string;
  /** Days with metrics and invocations: nobody's secret. */
  readonly date: string;
  readonly dayBefore: string;
}

/** Versions of some of them; `container` is that of the definition. */
export interface Etags {
  readonly workflow: string;
  readonly memory: string;
  readonly message: string;
  readonly entity: string;
  readonly item: string;
  readonly container: string;
}

/** Never twice the same, and as long as any other: two answers that differ only in it are of one length. */
export const newMarker = (): string => `numbat${randomBytes(6).toString("hex")}`;

export function namesOf(marker: string, now: number): Names {
  return {
    wid: `workflow-${marker}`,
    aid: `agent-${marker}`,
    sid: `session-${marker}`,
    unit: `unit-${marker}`,
    id: `thing-${marker}`,
    threadId: `thread-${marker}`,
    agentId: `agent-${marker}`,
    tool: `tool-${marker}`,
    name: `name_${marker}`,
    c: `own-${marker}`,
    pk: `pk-${marker}`,
    base: `Base ${marker}`,
    kept: `Kept ${marker}`,
    home: "pinakes",
    step: "1",
    date: day(now),
    dayBefore: day(now - dayMs),
  };
}

const dayMs = 86_400_000;
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** By an admin, at `now`. Everything that is not a name holds the secret. */
export async function fillState(
  state: State,
  admin: Caller,
  names: Names,
  secret: string,
  now: number,
): Promise<Etags> {
  const workflow = await fillWorkflows(state, admin, names, secret);
  const memory = await fillMemories(state, admin, names, secret);
  const { message, entity } = await fillThreads(state, admin, names, secret);
  await fillSeries(state, admin, names, secret, now);
  const { item, container } = await fillContainer(state, admin, names, secret);
  await fillDatabase(state, admin, names, secret);
  return { workflow, memory, message, entity, item, container };
}

async function fillWorkflows(
  { workflows }: State,
  admin: Caller,
  { wid, aid }: Names,
  secret: string,
): Promise<string> {
  const agents = [
    {
      agent_id: aid,
      agent_name: `name ${secret}`,
      status: "pending",
      started_at: null,
      completed_at: null,
      duration_ms: null,
      result: null,
    },
  ] as const;
  await workflows.create(admin, {
    id: wid,
    workflow_id: wid,
    type: "saga",
    name: `flow ${secret}`,
    description: `about ${secret}`,
    total_steps: 9,
    agents,
    checkpoints: [{ step: 0, timestamp: "2026-01-01T00:00:00Z", state: { secret }, agent_context: { secret } }],
    metadata: { tags: [`tag ${secret}`], created_by: `user ${secret}`, timeout_seconds: 3_600_000 },
  });
  await workflows.start(admin, wid);
  await workflows.checkpoint(admin, wid, { step: 1, state: { secret }, agent_context: { secret } });
  await workflows.checkpoint(admin, wid, { step: 2, state: { secret, large: secret.repeat(60_000) } });
  await workflows.acquireLease(admin, wid, { owner: `worker ${secret}`, leaseSeconds: 3_600 });
  await workflows.create(admin, { type: "sequential", name: `second ${secret}`, total_steps: 1 });
  return (await workflows.get(admin, wid))._etag;
}

async function fillMemories(
  { memories }: State,
  admin: Caller,
  { aid, sid, unit, id }: Names,
  secret: string,
): Promise<string> {
  const message = {
    agent_id: aid,
    session_id: sid,
    message_type: "user",
    metadata: { tags: [`tag ${secret}`], user_id: `user ${secret}` },
  } as const;
  await memories.append(admin, { ...message, id: `root-${id}`, content: `the launch code is ${secret}` });
  await memories.append(admin, { ...message, id, content: `it is ${secret}`, parent_message_id: `root-${id}` });
  await memories.append(admin, {
    ...message,
    id: `answer-${id}`,
    content: `yes, ${secret}`,
    message_type: "assistant",
    parent_message_id: id,
  });
  await memories.append(
    admin,
    { ...message, session_id: unit, id: `unit-${id}`, content: `ends with ${secret}`, ttl: 86_400 },
    { ttlUnit: "session" },
  );
  await memories.fork(admin, aid, sid, { session_id: `fork-${sid}` });
  await memories.search(admin, { query: "launch code", mode: "keyword" });
  return (await memories.get(admin, aid, id))._etag;
}

async function fillThreads(
  { threads, systemThreads, entities }: State,
  admin: Caller,
  { threadId, agentId, id }: Names,
  secret: string,
): Promise<{ message: string; entity: string }> {
  for (const kept of [threads, systemThreads]) {
    await kept.append(admin, threadId, { id, text: `said ${secret}`, by: `user ${secret}` });
    await kept.append(admin, threadId, { id: `second-${id}`, text: `again ${secret}` });
  }
  const { _etag } = await entities.put(admin, agentId, { secret, likes: [`tea with ${secret}`] });
  return { message: (await threads.get(admin, threadId, id))._etag, entity: _etag };
}

async function fillSeries(
  { metrics, tools }: State,
  admin: Caller,
  names: Names,
  secret: string,
  now: number,
): Promise<void> {
  const { id, aid, sid, wid, tool } = names;
  const moments = [now, now - 86_400_000].map((ms) => new Date(ms).toISOString());
  const dimensions = {
    session_id: sid,
    workflow_id: wid,
    environment: `env ${secret}`,
    model: `model ${secret}`,
    tool_name: tool,
  };
  const rows = moments.map((timestamp, i) => ({
    id: i === 0 ? id : `before-${id}`,
    agent_id: aid,
    metric_type: "cost" as const,
    timestamp,
    value: 31_415,
    dimensions,
  }));
  const own = {
    id: `own-${id}`,
    agent_id: aid,
    metric_type: `custom.${names.name}`,
    value: 16_180,
    dimensions: { [names.name]: `custom ${secret}` },
  } as const;
  await metrics.ingest(admin, [...rows, { ...own, timestamp: new Date(now).toISOString() }], { allOrNothing: true });
  await tools.putSettings(admin, { hash_chain: true });
  await tools.putRule(admin, { tool_name: tool, drop: [`input_args.${secret}`], mask: ["input_args.password"] });
  const invocations = moments.map((timestamp, i) => ({
    id: i === 0 ? id : `before-${id}`,
    tool_name: tool,
    agent_id: aid,
    session_id: sid,
    workflow_id: wid,
    timestamp,
    status: "success" as const,
    duration_ms: 27_182,
    input_args: { password: "hunter2", query: `find ${secret}` },
    output_result: { secret },
    security_context: { user_id: `user ${secret}`, ip_address: "10.0.0.1", user_agent: `agent ${secret}` },
  }));
  await tools.ingest(admin, invocations, { allOrNothing: true });
}

async function fillDatabase(
  { databases, containers }: State,
  admin: Caller,
  { base, kept, pk, id }: Names,
  secret: string,
): Promise<void> {
  await databases.create(admin, base, { ru: 500 });
  const spec = { partition_key: "/owner", optional_key: true };
  const settings = { about: secret };
  const { info } = await databases.createContainer(admin, base, {
    name: kept,
    spec,
    settings,
    throughput: { ru: 600 },
  });
  await containers.create(admin, info.name, { id, owner: pk, text: `in a database ${secret}` });
}

async function fillContainer(
  { containers }: State,
  admin: Caller,
  { c, pk, id }: Names,
  secret: string,
): Promise<{ item: string; container: string }> {
  const { etag } = await containers.put(admin, c, {
    partition_key: "/owner",
    indexes: { byTag: { partition: ["tag"], sort: ["at"] } },
  });
  const { _etag } = await containers.create(admin, c, {
    id,
    owner: pk,
    tag: `tag ${secret}`,
    at: 1,
    text: `kept ${secret}`,
  });
  await containers.create(admin, c, {
    id: `second-${id}`,
    owner: pk,
    tag: `tag ${secret}`,
    at: 2,
    text: `also ${secret}`,
  });
  await containers.create(admin, c, { id: `gone-${id}`, owner: pk, text: `gone ${secret}` });
  await containers.deleteItem(admin, c, pk, `gone-${id}`);
  return { item: _etag, container: etag };
}
