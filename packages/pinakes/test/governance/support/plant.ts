/** Canaries: texts that occur nowhere else, planted in every store for one user, with an index of where. */
import { setTimeout as sleep } from "node:timers/promises";
import { Responses } from "../../../src/answers/responses.ts";
import { openIdempotencyStore } from "../../../src/http/framework/index.ts";
import { SessionStore } from "../../../src/http/mcp/session-store.ts";
import type { Caller } from "../../../src/domain/caller.ts";
import { body, uploaded, type TestPinakes } from "../../knowledge/support/test-pinakes.ts";

export interface Planted {
  /** Texts of the user, none of which may be left. */
  readonly canaries: readonly string[];
  /** Exact bytes of vectors of the user's passages. */
  readonly vectors: readonly Uint8Array[];
  readonly sessions: readonly string[];
}

export interface Shared {
  readonly repository: string;
  readonly collection: string;
}

export const today = "2026-11-19";

/** `rounds` of everything that takes many; about 40 canaries and 12 for each round. */
export async function plant(
  test: TestPinakes,
  { repository, collection }: Shared,
  user: string,
  rounds = 5,
): Promise<Planted> {
  const { pinakes, knowledge } = test;
  const canaries: string[] = [];
  const canary = (what: string): string => {
    const text = `canary${user}${what}${canaries.length}x${Math.random().toString(36).slice(2, 10)}`;
    canaries.push(text);
    return text;
  };
  const who = test.as(user, { role: "admin" });
  const place = { knowledge, caller: who, repository, collection };
  const sessions = [`session-${user}-1`, `session-${user}-2`];
  for (let i = 0; i < rounds; i += 1) {
    await uploaded(place, `${canary("name")}.md`, `# Title\n\n${canary("text")} likes trains.`, {
      metadata: { note: canary("meta") },
    });
  }
  const name = `${canary("replaced")}.md`;
  await uploaded(place, name, `${canary("old")} was here first.`);
  await uploaded(place, name, `${canary("new")} came second.`, { replace: true });
  const gone = await uploaded(place, `${canary("deleted")}.md`, `${canary("gone")} is deleted.`);
  await knowledge.documents.delete(who, repository, collection, gone.document_id);
  const own = await knowledge.collections.create(who, repository, { name: canary("private"), private: true });
  await uploaded({ ...place, collection: own.collection_id }, "own.md", `${canary("owntext")} is private.`);

  for (let i = 0; i < rounds; i += 1) {
    const memory = await pinakes.state.memories.append(who, {
      agent_id: "helper",
      session_id: sessions[i % 2] as string,
      message_type: "user",
      content: `${canary("said")} hello`,
      metadata: { user_id: user },
    });
    await pinakes.state.memories.patch(who, "helper", memory.id, { content: `${canary("changed")} hello` });
    await pinakes.state.memories.append(who, {
      agent_id: "helper",
      session_id: sessions[i % 2] as string,
      message_type: "assistant",
      content: `${canary("answered")} dear user`,
    });
    await pinakes.state.tools.ingest(who, [
      {
        id: canary("toolid"),
        tool_name: "search",
        agent_id: "helper",
        session_id: sessions[0] as string,
        timestamp: `${today}T08:0${i % 10}:00.000Z`,
        status: "success",
        duration_ms: 5,
        input_args: { query: canary("args") },
        security_context: { user_id: user },
      } as never,
    ]);
    await pinakes.state.metrics.ingest(who, [
      {
        agent_id: "helper",
        metric_type: "latency",
        timestamp: `${today}T08:0${i % 10}:00.000Z`,
        value: 10 + i,
        dimensions: { session_id: sessions[i % 2] as string, model: "m1", environment: "production" },
      } as never,
    ]);
    await pinakes.state.threads.append(who, `thread-${user}-${i}`, { user_id: user, text: canary("thread") });
  }
  await pinakes.state.memories.search(who, { query: canaries[0] as string });
  await pinakes.state.memories.append(who, {
    agent_id: "helper",
    session_id: sessions[0] as string,
    message_type: "user",
    content: canary("expired"),
    metadata: { user_id: user },
    ttl: 1,
  } as never);
  await sleep(1_100);

  const flow = await pinakes.state.workflows.create(who, {
    type: "sequential",
    name: canary("flow"),
    total_steps: 2,
    metadata: { created_by: user },
  } as never);
  const large = canary("large");
  await pinakes.state.workflows.checkpoint(who, flow.workflow_id, {
    step: 1,
    state: { text: canary("state"), large: large.repeat(60_000) },
  });
  const others = test.as("otto", { role: "admin" });
  const foreign = await pinakes.state.workflows.create(others, {
    type: "sequential",
    name: "of otto",
    total_steps: 2,
    metadata: { created_by: "otto" },
  } as never);
  await pinakes.state.workflows.checkpoint(others, foreign.workflow_id, {
    step: 1,
    state: { kept: "otto stays", messages: [{ user_id: user, content: canary("message") }] },
  });
  await pinakes.state.entities.put(who, `entity-${user}`, { user_id: user, text: canary("entity") });
  await knowledge.files.create(who, {
    filename: `${canary("file")}.txt`,
    body: body(canary("filebytes")),
    settings: async () => ({ purpose: "user_data" }),
  });
  await plantElsewhere(test, who, canary);
  const incarnation = await incarnationOf(test, repository, collection);
  return { canaries, vectors: await vectorsOf(test, incarnation, canaries), sessions };
}

/** Stores of the interfaces: sessions, answers, keys. */
async function plantElsewhere(test: TestPinakes, who: Caller, canary: (what: string) => string): Promise<void> {
  const { pinakes } = test;
  const user = who.userId;
  const responses = await Responses.open(pinakes.items);
  await responses.put(who, "response-1", { text: canary("response") });
  const idempotency = await openIdempotencyStore(pinakes.items);
  const claim = { id: `claim-${user}`, fingerprint: "f" } as never;
  const begun = (await idempotency.begin(who.scope, claim)) as { lease: string };
  const answer = {
    status: 201,
    headers: {},
    body: JSON.stringify({ created_by: user, text: canary("answer") }),
    tooLarge: false,
  };
  await idempotency.finish(who.scope, claim, begun.lease, answer);
  const sessions = await SessionStore.open(pinakes.items);
  await sessions.create(who, `mcp-${user}`, { clientInfo: canary("mcp") });
  await sessions.deliver(who, `mcp-${user}`, "7", { result: canary("delivery") });
  await pinakes.catalogSelections.slot(who, "s1").set({ catalog_id: canary("catalog"), selected_at: 1 });
  const auth = pinakes.identity.embedded(test.as("root", { role: "admin" }));
  await pinakes.identity.keys.create(auth, { name: canary("key"), user_id: user });
}

export async function incarnationOf(test: TestPinakes, repository: string, collection: string): Promise<string> {
  const key = { partition: [repository], id: `collection:${collection}` };
  const item = await test.pinakes.items.read(test.admin.scope, "collections", key);
  return item?.document["incarnation"] as string;
}

async function vectorsOf(
  test: TestPinakes,
  incarnation: string,
  canaries: readonly string[],
): Promise<readonly Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const { text = "", vector } of test.pinakes.vectors.rows(test.admin.scope, `${incarnation}.1`))
    if (canaries.some((one) => text.includes(one)))
      found.push(new Uint8Array(vector.buffer.slice(vector.byteOffset, vector.byteOffset + vector.byteLength)));
  return found;
}
