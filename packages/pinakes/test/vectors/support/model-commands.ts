/** Commands on the public API of the vector store, each with the equivalent on a plain map (fast-check's model runs). */
import fc from "fast-check";
import { expect } from "vitest";
import { compileFilter, type Filter } from "../../../src/domain/filter.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { Machine, scope, type Process } from "./machine.ts";
import { codeOf, line, rowsOf } from "./state.ts";

export interface ModelRow {
  readonly vector: readonly number[];
  readonly text?: string;
  readonly metadata: JsonObject;
}

type Rows = ReadonlyMap<string, ModelRow>;

export interface Model {
  rows: Map<string, ModelRow>;
  /** What each version had. */
  readonly versions: Map<number, { readonly rows: Rows; readonly seq: number }>;
  seq: number;
  /** Tokens by seq, and those of them that a restore discarded. */
  readonly sessions: Map<number, string>;
  readonly discarded: Set<number>;
}

export interface Real {
  readonly machine: Machine;
  process: Process;
}

type Command = fc.AsyncCommand<Model, Real>;

export async function start(): Promise<{ model: Model; real: Real }> {
  const machine = await Machine.open({ retentionMs: 10 ** 12 });
  const process = machine.process({ cache: true });
  await process.vectors.create(scope, "c", { dims: 3, metric: "dot" });
  return {
    model: {
      rows: new Map(),
      versions: new Map([[0, { rows: new Map(), seq: 0 }]]),
      seq: 0,
      sessions: new Map(),
      discarded: new Set(),
    },
    real: { machine, process },
  };
}

export function linesOf(rows: Rows): string[] {
  return [...rows].map(([id, { vector, text, metadata }]) => line(id, vector, text, metadata)).sort();
}

const id = fc.constantFrom("a", "b", "c", "d", "e", "ü", "a/b c");
const vector = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 3 });
const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("x", "y"), fc.boolean());
const fields = fc.constantFrom("k", "l", "m");
const metadata = fc.dictionary(fields, value, { maxKeys: 3, noNullPrototype: true });
const patch = fc.dictionary(fields, fc.option(value), { maxKeys: 3, noNullPrototype: true });
const text = fc.constantFrom("one", "two words");
const upsert = fc.record({ id, vector, metadata, text }, { requiredKeys: ["id", "vector", "metadata"] });
const changes = fc
  .record({
    upsert: fc.array(upsert, { maxLength: 4 }),
    patch: fc.array(fc.record({ id, metadata: patch }), { maxLength: 3 }),
    delete: fc.array(id, { maxLength: 2 }),
  })
  .filter((input) => input.upsert.length + input.patch.length + input.delete.length > 0);
type Changes = typeof changes extends fc.Arbitrary<infer T> ? T : never;

/** Upserts, then patches, then deletes, one after the other: the meaning of "the last one wins". */
function apply(rows: Map<string, ModelRow>, input: Changes): void {
  for (const { id: name, ...row } of input.upsert) rows.set(name, row);
  for (const { id: name, metadata: change } of input.patch) {
    const row = rows.get(name);
    if (row === undefined) continue;
    const merged = Object.entries({ ...row.metadata, ...change }).filter(
      ([key, entry]) => !(entry === null && key in change),
    );
    rows.set(name, { ...row, metadata: Object.fromEntries(merged) });
  }
  for (const name of input.delete) rows.delete(name);
}

async function checkRows(model: Model, { process }: Real): Promise<void> {
  expect(await rowsOf(process.vectors)).toEqual(linesOf(model.rows));
}

/** New versions contain the current rows: there are no other writers. */
async function learnVersions(model: Model, { process }: Real): Promise<void> {
  for (const { version, live } of await process.vectors.history(scope, "c")) {
    if (model.versions.has(version)) continue;
    model.versions.set(version, { rows: new Map(model.rows), seq: model.seq });
    expect(live).toBe(model.rows.size);
  }
}

function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

const append = changes.map((input) =>
  command(`append ${JSON.stringify(input)}`, async (model, real) => {
    const { seq, session } = await real.process.vectors.append(scope, "c", input);
    model.seq += 1;
    expect(seq).toBe(model.seq);
    apply(model.rows, input);
    model.sessions.set(seq, session);
    await checkRows(model, real);
  }),
);

const compact = fc.boolean().map((all) =>
  command(`compact${all ? " all" : ""}`, async (model, real) => {
    expect(await real.process.vectors.compact(scope, "c", { all })).toMatchObject({ outcome: "done" });
    await learnVersions(model, real);
    expect(await real.process.vectors.stats(scope, "c")).toMatchObject({
      appliedSeq: model.seq,
      pendingDeltas: 0,
      liveRows: model.rows.size,
    });
    await checkRows(model, real);
  }),
);

const collect = fc.constant(
  command("collect", async (model, real) => {
    real.machine.now += 1;
    expect(await real.process.vectors.collect(scope, "c")).toMatchObject({ outcome: "done", versions: 0 });
    expect((await real.process.vectors.fsck(scope, "c")).findings).toEqual([]);
    await checkRows(model, real);
  }),
);

const restore = fc.nat(99).map((pick) =>
  command(`restore ${pick}`, async (model, real) => {
    const numbers = [...model.versions.keys()];
    const version = numbers[pick % numbers.length] as number;
    await real.process.vectors.restore(scope, "c", { version });
    const then = model.versions.get(version);
    model.rows = new Map(then?.rows);
    for (let seq = (then?.seq ?? 0) + 1; seq <= model.seq; seq += 1) model.discarded.add(seq);
    await learnVersions(model, real);
    await checkRows(model, real);
  }),
);

const asOf = fc.nat(99).map((pick) =>
  command(`as of ${pick}`, async (model, { process }) => {
    const [version, { rows }] = [...model.versions][pick % model.versions.size] as [number, { rows: Rows }];
    expect(await rowsOf(process.vectors, "c", { asOf: { version } })).toEqual(linesOf(rows));
  }),
);

const get = fc.array(id, { maxLength: 5 }).map((ids) =>
  command(`get ${ids.join()}`, async (model, { process }) => {
    const found = await process.vectors.get(scope, "c", ids);
    const lines = found.map((row, i) =>
      row === undefined ? undefined : line(ids[i] as string, [...row.vector], row.text, row.metadata),
    );
    const expected = ids.map((name) => {
      const row = model.rows.get(name);
      return row === undefined ? undefined : line(name, row.vector, row.text, row.metadata);
    });
    expect(lines).toEqual(expected);
  }),
);

const filters: readonly Filter[] = [
  { k: 1 },
  { k: { ne: 1 } },
  { l: { in: [0, "x"] } },
  { m: { exists: false } },
  { k: { gte: 2 } },
  { or: [{ k: 0 }, { not: { l: true } }] },
];

const count = fc.constantFrom(undefined, ...filters).map((filter) =>
  command(`count ${JSON.stringify(filter)}`, async (model, { process }) => {
    if (filter === undefined) return expect(await process.vectors.count(scope, "c")).toBe(model.rows.size);
    const matches = compileFilter(filter);
    const expected = [...model.rows.values()].filter((row) => matches(row.metadata)).length;
    // A filter on a field that no row has, or never has of that type, is rejected instead of answered with nothing.
    const counted = await process.vectors.count(scope, "c", { filter }).catch((error: unknown) => error);
    if (counted instanceof Error) expect(counted).toMatchObject({ code: "INVALID" });
    else expect(counted).toBe(expected);
  }),
);

const query = fc.record({ vector, limit: fc.integer({ min: 1, max: 8 }) }).map(({ vector: asked, limit }) =>
  command(`query ${asked.join()} limit ${limit}`, async (model, { process }) => {
    const dot = (row: ModelRow): number => row.vector.reduce((sum, x, i) => sum + x * (asked[i] as number), 0);
    const { hits, seq } = await process.vectors.query(scope, "c", { vector: asked, limit, recall: 1 });
    expect(seq).toBe(model.seq);
    const best = [...model.rows.values()].map(dot).sort((a, b) => b - a);
    expect(hits.map(({ score }) => score)).toEqual(
      best.slice(0, limit).map((score) => expect.closeTo(score, 3) as number),
    );
    expect(new Set(hits.map((hit) => hit.id)).size).toBe(hits.length);
    for (const hit of hits) expect(hit.score).toBeCloseTo(dot(model.rows.get(hit.id) as ModelRow), 3);
  }),
);

const session = fc.nat(99).map((pick) =>
  command(`session ${pick}`, async (model, { process }) => {
    if (model.sessions.size === 0) return;
    const [seq, token] = [...model.sessions][pick % model.sessions.size] as [number, string];
    const read = process.vectors.count(scope, "c", { session: token });
    if (model.discarded.has(seq)) expect(await codeOf(read), `the token of ${seq}`).toBe("CONFLICT");
    else expect(await read).toBe(model.rows.size);
  }),
);

const reopen = fc.constant(
  command("reopen", async (model, real) => {
    real.process = real.machine.process({ cache: true });
    await checkRows(model, real);
  }),
);

export const commands = fc.commands(
  [
    append,
    append,
    append,
    compact,
    compact,
    collect,
    restore,
    asOf,
    get,
    count,
    query,
    query,
    session,
    session,
    reopen,
  ],
  {
    maxCommands: 40,
  },
);
