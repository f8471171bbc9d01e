/**
 * A process that erases a user while eight writers write for others, until it is done or kills itself with -9 at the call it was told.
 * Lines on standard output are JSON: what was acknowledged to writers, what was accepted of the user behind the fence, and the end.
 *
 * usage: erasing-process.ts <settings as JSON>
 */
import { appendFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../../../src/domain/errors.ts";
import { open, type Pinakes } from "../../../src/open.ts";
import type { Acknowledged, ErasingSettings, Fatal, Line } from "./killed-erasure.ts";
import { orders } from "./plant-more.ts";

const settings = JSON.parse(process.argv[2] as string) as ErasingSettings;
const { dir, stores, user, shared, life, writers, fatal } = settings;
const say = (line: Line): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const pinakes = await open({
  dir,
  ...stores,
  erasureFenceMs: 0,
  log: (line) => appendFileSync(settings.log, `${line}\n`),
});
const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
const { erasures } = pinakes.governance;
if (fatal !== undefined) dieAt(pinakes, fatal);

const stop = new AbortController();
const [known] = (await erasures.list(admin)).items;
// While it is asked for, the user writes, too; in later lives the fence is up from the start, and the erasure goes on only after this.
const own = known === undefined ? Promise.all(subjectWriters()) : settings.probe ? Promise.all(subjectWriters(1)) : [];
if (known !== undefined) await own;
const others = Array.from({ length: writers }, (_, i) => writeForOthers(i));
const erasureId =
  known?.erasure_id ?? (await erasures.request(admin, { subject: { type: "user", id: user }, scrub: true })).erasure_id;
const ended = await erasures.wait(admin, erasureId);
await own;
stop.abort();
await Promise.all(others);
await pinakes.close();
say({ ended: ended.state, error: ended.error });
process.exit(0);

/** Counts the calls of the erasure to its stores. */
function dieAt({ items }: Pinakes, { at, call, how, afterMs }: Fatal): void {
  const { erasure } = items;
  let seen = 0;
  for (const name of ["walk", "remove", "forget", "scrub"] as const) {
    const original = (erasure[name] as (...args: unknown[]) => Promise<unknown>).bind(erasure);
    const watched = async (...args: unknown[]): Promise<unknown> => {
      if (call !== undefined && call !== name) return original(...args);
      seen += 1;
      if (seen !== at) return original(...args);
      if (how === "before") die();
      const result = original(...args);
      if (how === "during") {
        await sleep(afterMs);
        die();
      }
      await result;
      die();
      return result;
    };
    Object.defineProperty(erasure, name, { value: watched });
  }
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

/** What the user writes, each kind with a text that begins the same: none of it may be left. */
function subjectWriters(limit = Infinity): readonly Promise<void>[] {
  const late = (n: number): string => `canary${user}late${life}x${n}`;
  const who = pinakes.as({ tenant: "acme", userId: user, role: "admin" });
  const api = pinakes.state.as(who);
  const memory = { agent_id: "helper", session_id: `session-${user}-1`, message_type: "user" } as const;
  const kinds: Readonly<Record<string, (n: number) => Promise<unknown>>> = {
    memory: (n) => api.memories.append({ ...memory, content: late(n), metadata: { user_id: user } }),
    thread: (n) => api.threads.append(`thread-${user}-late`, { user_id: user, text: late(n) }),
    order: (n) => api.containers.create(orders, { id: late(n), customer: "c2", user_id: user }),
    workflow: (n) =>
      api.workflows.create({
        type: "sequential",
        name: late(n),
        total_steps: 1,
        metadata: { created_by: user },
      } as never),
    // Under way for a while, so that the fence rises in its middle.
    document: (n) =>
      pinakes.knowledge.documents.upload(who, shared.repository, shared.collection, {
        name: `${late(n)}.md`,
        body: slowly(late(n)),
      }),
  };
  return Object.entries(kinds).map(async ([kind, write]) => {
    for (let n = 0; n < limit; n += 1) {
      try {
        await write(n);
        if (limit === 1) say({ accepted: kind });
      } catch (error) {
        if (!hasCode(error, "CONFLICT", "NOT_FOUND")) throw error;
        return;
      }
      await sleep(5);
    }
  });
}

async function* slowly(text: string): AsyncGenerator<Uint8Array, void> {
  for (let piece = 0; piece < 20; piece += 1) {
    yield Buffer.from(`${text} ${"filler ".repeat(2_000)}`);
    await sleep(10);
  }
}

async function writeForOthers(writer: number): Promise<void> {
  const userId = `writer-${writer}`;
  const who = pinakes.as({ tenant: "acme", userId, role: "admin" });
  const api = pinakes.state.as(who);
  const kinds: readonly ((text: string, n: number) => Promise<Acknowledged>)[] = [
    async (text) => {
      const message = { agent_id: "helper", session_id: `s-${userId}`, message_type: "user", content: text } as const;
      const { id } = await api.memories.append({ ...message, metadata: { user_id: userId } });
      return { kind: "memory", writer, at: "helper", id, text };
    },
    async (text) => {
      const { id } = await api.threads.append(`thread-${userId}`, { user_id: userId, text });
      return { kind: "thread", writer, at: `thread-${userId}`, id, text };
    },
    async (text) => {
      const { id } = await api.containers.create(orders, { id: text, customer: userId, user_id: userId, text });
      return { kind: "order", writer, at: userId, id, text };
    },
    async (text) => {
      const flow = { type: "sequential", name: text, total_steps: 1, metadata: { created_by: userId } } as never;
      const { workflow_id } = await api.workflows.create(flow);
      await api.workflows.checkpoint(workflow_id, { step: 1, state: { text } });
      return { kind: "workflow", writer, at: "", id: workflow_id, text };
    },
    async (text) => {
      const file = { name: `${text}.md`, body: slowly(text) };
      const { repository, collection } = shared;
      const { document_id } = await pinakes.knowledge.documents.upload(who, repository, collection, file);
      return { kind: "document", writer, at: "", id: document_id, text };
    },
  ];
  for (let n = 0; !stop.signal.aborted; n += 1) {
    // Documents take a model: only some writers, and not often.
    const kind = writer < 2 && n % 40 === 5 ? 4 : n % 4;
    const write = kinds[kind] as (typeof kinds)[number];
    say(await write(`kept${writer}x${life}x${n}x${Math.random().toString(36).slice(2, 10)}`, n));
    await sleep(5 + 20 * Math.random());
  }
}
