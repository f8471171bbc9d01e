/**
 * The torn-read hammer: continuous readers, while writers set one mark in all rows of a group, and compaction, garbage collection and
 * restores change the files below. Every answer must be of one state, whichever that is.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { open, type OpenOptions, type Pinakes } from "../../src/open.ts";
import { systemScope } from "../../src/domain/scope.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import type { ObjectStore } from "../../src/ports/object-store.ts";
import { openVectors, type Vectors, type VectorRow } from "../../src/vectors/index.ts";
import { Random } from "./simulation/random.ts";
import {
  checkGroup,
  checkState,
  collection,
  difference,
  draft,
  groupIds,
  groupRows,
  groups,
  replay,
  scope,
  settings,
  type PlainRow,
} from "./soak/drafts.ts";

const seed = 42;
/** What must have happened before the hammer stops, however long that takes. */
const least = { reads: 300, folds: 12, merges: 3, collected: 50, sessions: 20 };
const restoresMin = 6;
const readersEach = 3;
/** Writers wait for the compactors: they are not under test here. */
const unfoldedMax = 40;

const dirs: string[] = [];
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-torn-"));
  dirs.push(dir);
  return dir;
}

class Hammer {
  readonly figures = { reads: 0, folds: 0, merges: 0, collected: 0, restores: 0, sessions: 0 };
  /** Every delta that was acknowledged, by its seq. */
  readonly log = new Map<number, ReturnType<typeof draft>>();
  readonly #restores: boolean;
  /** Deltas since the last fold. */
  #unfolded = 0;
  #failed = false;

  constructor(options: { restores: boolean }) {
    this.#restores = options.restores;
  }

  get #enough(): boolean {
    const { figures } = this;
    const reached = Object.entries(least).every(([name, count]) => figures[name as keyof typeof least] >= count);
    return this.#failed || (reached && (!this.#restores || figures.restores >= restoresMin));
  }

  async run(stores: readonly Vectors[]): Promise<void> {
    const [first] = stores as [Vectors];
    await first.create(scope, collection, settings);
    await this.#append(first, 0, 0);
    const work = stores.flatMap((vectors, i) => [this.#care(vectors, i * 2 + 1), this.#care(vectors, i * 2 + 2)]);
    if (this.#restores) work.push(this.#restore(first));
    work.push(...stores.flatMap((vectors, i) => [this.#write(vectors, i * 2 + 1), this.#write(vectors, i * 2 + 2)]));
    work.push(
      ...stores.flatMap((vectors, i) =>
        Array.from({ length: readersEach }, (_, reader) => this.#read(vectors, i * readersEach + reader)),
      ),
    );
    const ended = await Promise.allSettled(work.map((job) => job.catch((error: unknown) => this.#fail(error))));
    for (const outcome of ended) if (outcome.status === "rejected") throw outcome.reason;
    await compactAll(first);
    expect(await first.fsck(scope, collection)).toMatchObject({ ok: true });
    expect((await first.stats(scope, collection)).lastSeq).toBe(this.log.size);
    expect([...this.log.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: this.log.size }, (_, i) => i + 1));
  }

  async #append(vectors: Vectors, lane: number, n: number): Promise<void> {
    const delta = draft(seed, lane, n);
    const { seq, session } = await vectors.append(scope, collection, delta);
    this.log.set(seq, delta);
    this.#unfolded += 1;
    if (n % 4 === 3) await this.#readBack(vectors, lane, n, session);
  }

  async #readBack(vectors: Vectors, lane: number, n: number, session: string): Promise<void> {
    try {
      const [row] = await vectors.get(scope, collection, [`lane.${lane}`], { session });
      // A patch of a row that a restore has removed does not recreate it.
      if (!this.#restores || row !== undefined)
        expect(row?.metadata["n"], `session read of delta ${n} of lane ${lane}`).toBe(n);
      this.figures.sessions += 1;
    } catch (error) {
      // Discarded by a restore: the caller gets an error.
      if (!this.#restores || codeOf(error) !== "CONFLICT") throw error;
    }
  }

  async #write(vectors: Vectors, lane: number): Promise<void> {
    for (let n = 0; !this.#enough; n += 1) {
      await this.#append(vectors, lane, n);
      while (this.#unfolded > unfoldedMax && !this.#enough) await nextTurn();
    }
  }

  async #read(vectors: Vectors, number: number): Promise<void> {
    const random = new Random(seed + number);
    const seen = { version: 0, seq: 0 };
    do {
      const group = random.int(0, groups - 1);
      const kind = random.int(0, 4);
      if (kind === 0) this.#checkWhole(await Array.fromAsync(vectors.rows(scope, collection)));
      if (kind === 1) await this.#readIds(vectors);
      if (kind === 2) {
        const count = await vectors.count(scope, collection, { filter: { group } });
        expect([0, groupRows]).toContain(count);
      }
      if (kind >= 3) {
        const vector = Array.from({ length: 8 }, () => random.next() + 0.1);
        const wanted = kind === 3 ? { limit: 1_000, recall: 1 } : { text: "mark", filter: { group }, limit: 100 };
        const { hits, version, seq } = await vectors.query(scope, collection, {
          vector,
          includeVectors: true,
          ...wanted,
        });
        expect(version).toBeGreaterThanOrEqual(seen.version);
        expect(seq).toBeGreaterThanOrEqual(seen.seq);
        Object.assign(seen, { version, seq });
        const rows = hits.map((hit) => ({ ...hit, vector: hit.vector ?? [] }));
        if (kind === 3) this.#checkWhole(rows);
        else checkGroup(group, rows);
      }
      this.figures.reads += 1;
      await nextTurn();
    } while (!this.#enough);
  }

  async #readIds(vectors: Vectors): Promise<void> {
    const ids = Array.from({ length: groups }, (_, group) => groupIds(group)).flat();
    const rows = await vectors.get(scope, collection, ids);
    for (let group = 0; group < groups; group += 1)
      checkGroup(group, present(rows.slice(group * groupRows, (group + 1) * groupRows)));
  }

  /** After a restore a patch may find no row of its lane, so only a run without restores compares marks with lanes. */
  #checkWhole(rows: readonly PlainRow[]): void {
    if (!this.#restores) checkState(rows);
    const byId = new Map(rows.map((row) => [row.id, row]));
    expect(byId.size).toBe(rows.length);
    for (let group = 0; group < groups; group += 1)
      checkGroup(group, present(groupIds(group).map((id) => byId.get(id))));
  }

  async #care(vectors: Vectors, number: number): Promise<void> {
    const random = new Random(seed + 100 + number);
    while (!this.#enough) {
      const { outcome, folds, merges } = await vectors.compact(scope, collection, { all: random.chance(0.2) });
      if (outcome === "done") this.#unfolded = 0;
      this.figures.folds += folds;
      this.figures.merges += merges;
      if (random.chance(0.6)) this.figures.collected += (await vectors.collect(scope, collection)).objects;
      for (let turns = random.int(1, 20); turns > 0; turns -= 1) await nextTurn();
    }
  }

  /** To a version that may be gone the next moment, or that others overtake. */
  async #restore(vectors: Vectors): Promise<void> {
    const random = new Random(seed + 200);
    while (!this.#enough) {
      // Version 0 has no rows, so no group 0, which the checks assume.
      const known = (await vectors.history(scope, collection)).filter(({ version }) => version > 0);
      try {
        if (known.length > 0) {
          await vectors.restore(scope, collection, { version: random.pick(known).version });
          this.figures.restores += 1;
        }
      } catch (error) {
        if (codeOf(error) !== "NOT_FOUND" && codeOf(error) !== "UNAVAILABLE") throw error;
      }
      for (let turns = random.int(10, 200); turns > 0; turns -= 1) await nextTurn();
    }
  }

  #fail(error: unknown): never {
    this.#failed = true; // The others end, too, before the stores are closed.
    throw error;
  }
}

function present(rows: readonly (VectorRow | PlainRow | undefined)[]): PlainRow[] {
  return rows.flatMap((row) => row ?? []);
}

function codeOf(error: unknown): string | undefined {
  return PinakesError.isInstance(error) ? error.code : undefined;
}

async function compactAll(vectors: Vectors): Promise<void> {
  while ((await vectors.compact(scope, collection)).outcome !== "done") await nextTurn();
}

function expectedRows({ log }: Hammer): Map<string, PlainRow> {
  return replay([...log].sort(([a], [b]) => a - b).map(([, delta]) => delta));
}

async function hammer(opened: readonly Pinakes[], restores: boolean): Promise<void> {
  const run = new Hammer({ restores });
  const stores = opened.map(({ vectors }) => vectors);
  try {
    await run.run(stores);
    for (const vectors of stores) {
      const rows = await Array.fromAsync(vectors.rows(scope, collection));
      if (!restores) expect(difference(expectedRows(run), rows)).toEqual([]);
    }
    if (process.env["SOAK_FIGURES"] !== undefined) console.log(run.figures, run.log.size);
  } finally {
    for (const pinakes of opened) await pinakes.close();
  }
}

/** With restores old versions are retained for a while; otherwise they are removed at once. */
function optionsFor(restores: boolean): Pick<OpenOptions, "background" | "vectors"> {
  const policy = {
    leaseMs: 200,
    retentionMs: restores ? 500 : 0,
    appliedDeltaMs: 0,
    collectAfterMs: 0,
    sessionWaitMs: 60_000,
  };
  return { background: false, vectors: { threads: 2, policy } };
}

/** The store with some methods replaced. */
function replacing<Store extends object>(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** The same store, whose next query waits until it is released. */
function holding(items: ItemStore): { items: ItemStore; held: Promise<void>; goOn: () => void } {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const query: ItemStore["query"] = async (...args) => {
    reached.resolve();
    await gate.promise;
    return items.query(...args);
  };
  return { items: replacing(items, { query }), held: reached.promise, goOn: gate.resolve };
}

describe("the torn-read hammer", () => {
  it("R-CMP-17 R-CMP-28 reads that share the opening of a state all continue with the next one when it is overtaken", async () => {
    await using pinakes = await open({ dir: folder(), items: "memory:", objects: "memory:", ...optionsFor(false) });
    await pinakes.vectors.create(scope, collection, settings);
    const delta = draft(seed, 0, 0);
    await pinakes.vectors.append(scope, collection, delta);
    const { items, held, goOn } = holding(pinakes.items);
    const system = systemScope("a test", () => {});
    const slow = await openVectors({ items, objects: pinakes.objects, system, threads: 1 });
    const reads = Promise.all(Array.from({ length: 3 }, () => Array.fromAsync(slow.vectors.rows(scope, collection))));
    await held;
    // Meanwhile the delta, which they are about to look for, is applied and collected.
    expect((await pinakes.vectors.compact(scope, collection)).outcome).toBe("done");
    expect((await pinakes.vectors.collect(scope, collection)).deltas).toBe(1);
    goOn();
    for (const rows of await reads) expect(difference(replay([delta]), rows)).toEqual([]);
    await slow.close();
  });

  it("R-CMP-17 a read that is overtaken by a restore and a write shows no mixture of before and after", async () => {
    await using pinakes = await open({ dir: folder(), items: "memory:", objects: "memory:", ...optionsFor(false) });
    const { vectors } = pinakes;
    const [first, discarded, last] = [draft(seed, 0, 0), draft(seed, 1, 0), draft(seed, 2, 0)] as const;
    await vectors.create(scope, collection, settings);
    await vectors.append(scope, collection, first);
    await vectors.compact(scope, collection);
    await vectors.append(scope, collection, discarded);
    const { items, held, goOn } = holding(pinakes.items);
    const slow = await openVectors({
      items,
      objects: pinakes.objects,
      system: systemScope("a test", () => {}),
      threads: 1,
    });
    const read = Array.fromAsync(slow.vectors.rows(scope, collection));
    await held;
    await vectors.restore(scope, collection, { version: 1 });
    await vectors.append(scope, collection, last);
    goOn();
    const rows = await read;
    const states = [replay([first, discarded]), replay([first]), replay([first, last])].map((state) =>
      difference(state, rows),
    );
    expect(states.filter((different) => different.length === 0)).toHaveLength(1);
    expect(difference(replay([first, last]), await Array.fromAsync(slow.vectors.rows(scope, collection)))).toEqual([]);
    await slow.close();
  });

  for (const restores of [false, true]) {
    const beside = restores ? "compaction, garbage collection and restores" : "compaction and garbage collection";
    it(`R-CMP-17 in memory, beside ${beside}, every answer is of one state`, async () => {
      await hammer(
        [await open({ dir: folder(), items: "memory:", objects: "memory:", ...optionsFor(restores) })],
        restores,
      );
    });
    it(`R-CMP-17 on one folder opened twice, beside ${beside}, every answer is of one state`, async () => {
      const dir = folder();
      await hammer(
        [await open({ dir, ...optionsFor(restores) }), await open({ dir, ...optionsFor(restores) })],
        restores,
      );
    });
  }
});

describe("a compaction beside a writer that never pauses", () => {
  it("R-CMP-31 ends with what was pending when it began, so that garbage is collected", async () => {
    await using pinakes = await open({ dir: folder(), items: "memory:", objects: "memory:", ...optionsFor(false) });
    let written = 0;
    const write = async (): Promise<void> => {
      if (written >= 100) throw new Error("It folds as long as somebody writes.");
      await pinakes.vectors.append(scope, collection, draft(seed, 1, written));
      written += 1;
    };
    // A delta arrives during every fold and every merge.
    const put: ObjectStore["put"] = async (by, key, ...rest) => {
      if (key.includes("/segments/")) await write();
      return pinakes.objects.put(by, key, ...rest);
    };
    const objects = replacing(pinakes.objects, { put });
    const opened = await openVectors({
      items: pinakes.items,
      objects,
      system: systemScope("a test", () => {}),
      threads: 1,
    });
    await opened.vectors.create(scope, collection, settings);
    await write();
    expect(await opened.vectors.compact(scope, collection)).toMatchObject({ outcome: "done", folds: 1 });
    expect((await opened.vectors.stats(scope, collection)).pendingDeltas).toBe(1);
    // The next sweep finds what arrived meanwhile.
    await opened.sweep();
    expect((await opened.vectors.stats(scope, collection)).appliedSeq).toBe(2);
    expect((await opened.vectors.collect(scope, collection)).outcome).toBe("done");
    await opened.close();
  });
});
