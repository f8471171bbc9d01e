/** Writes the quads of a space in all their orders, and their support rows, inside the caller's transaction. */
import { invariant } from "../../../domain/invariant.ts";
import type { Support } from "../../../ports/triple-store.ts";
import { insertRows } from "./insert-rows.ts";
import { assertedSource, placesOf, quadOrders, tripleOrders, type Order } from "./schema.ts";
import { Ranks } from "./sorted-rows.ts";
import type { SpaceRow } from "./space-row.ts";
import type { Statements } from "./statements.ts";

/** s, p, o, g; 0 for the default graph. */
export type QuadIds = readonly [number, number, number, number];

const places = { s: 0, p: 1, o: 2, g: 3 } as const;
const columnsOf = (order: Order): number[] => placesOf(order).map((place) => places[place]);
const quadIs = "space = ? AND s = ? AND p = ? AND o = ? AND g = ?";

export class QuadWriter {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** `rows` has four indexes into the batch per quad, `ids` the numbers of its terms. Returns how many quads were new. */
  insert(space: SpaceRow, ids: Float64Array, rows: Uint32Array, support: Support | undefined): number {
    // Before inserting: an existing quad without support was asserted, and remains asserted beside its first source.
    if (support !== undefined) this.#support(space, ids, rows, support);
    else if (space.supports > 0) this.#markAsserted(space, ids, rows);
    const ranks = new Ranks(ids);
    const { triples, quads } = split(rows);
    const newTriples = this.#insertAll(
      space,
      tripleOrders,
      (columns) => ranks.triples(triples, columns),
      triples.length,
    );
    const newQuads = this.#insertAll(space, quadOrders, (columns) => ranks.quads(quads, columns), quads.length);
    space.triples += newTriples;
    space.quads += newQuads;
    return newTriples + newQuads;
  }

  /** Deletes quads and returns how many existed. Their terms and sources are added to `terms` and `sources`, to be checked for removal. */
  remove(space: SpaceRow, quads: Iterable<QuadIds>, terms: Set<number>, sources: Set<number>): number {
    let removed = 0;
    for (const quad of quads) {
      if (!this.#delete(space, quad)) continue;
      removed += 1;
      for (const id of quad) terms.add(id);
      if (space.supports === 0) continue;
      for (const [source, part] of this.#statements.all<[number, number]>(
        `SELECT source, part FROM supports WHERE ${quadIs}`,
        space.id,
        ...quad,
      )) {
        this.#dropSupport(space, quad, source, part);
        sources.add(source);
      }
    }
    return removed;
  }

  /** Removes up to `limit` supports of a source; returns the quads that have none left, to be removed. */
  dropSource(space: SpaceRow, source: string, limit: number): { orphans: QuadIds[]; done: boolean } {
    const id = this.#statements.first<[number]>(
      "SELECT id FROM sources WHERE space = ? AND name = ?",
      space.id,
      source,
    )?.[0];
    if (id === undefined) return { orphans: [], done: true };
    const rows = this.#statements.all<[number, number, number, number, number]>(
      "SELECT s, p, o, g, part FROM supports_by_source WHERE space = ? AND source = ? ORDER BY s, p, o, g, part LIMIT ? + 0",
      space.id,
      id,
      limit,
    );
    const orphans: QuadIds[] = [];
    for (const [s, p, o, g, part] of rows) {
      const quad: QuadIds = [s, p, o, g];
      this.#dropSupport(space, quad, id, part);
      const left = this.#statements.all<[number]>(
        `SELECT source FROM supports WHERE ${quadIs} LIMIT 2`,
        space.id,
        ...quad,
      );
      if (left.length === 0) orphans.push(quad);
      // Asserted without other supports: no row is needed.
      else if (left.length === 1 && left[0]?.[0] === assertedSource) this.#dropSupport(space, quad, assertedSource, 0);
    }
    const done = rows.length < limit;
    if (done) this.dropSources(space, [id]);
    return { orphans, done };
  }

  /** Removes the names of sources that no longer support anything. */
  dropSources(space: SpaceRow, sources: Iterable<number>): void {
    for (const id of sources) {
      if (
        this.#statements.first(
          "SELECT 1 FROM supports_by_source WHERE space = ? AND source = ? LIMIT 1",
          space.id,
          id,
        ) === undefined
      )
        this.#statements.run("DELETE FROM sources WHERE space = ? AND id = ?", space.id, id);
    }
  }

  /** For a purge: removes up to `limit` supports of any source; returns whether that was all. */
  dropSupports(space: SpaceRow, limit: number): { dropped: number; done: boolean } {
    const before = space.supports;
    const rows = this.#statements.all<[number, number, number, number, number, number]>(
      "SELECT s, p, o, g, source, part FROM supports WHERE space = ? ORDER BY s, p, o, g, source, part LIMIT ? + 0",
      space.id,
      limit,
    );
    for (const [s, p, o, g, source, part] of rows) this.#dropSupport(space, [s, p, o, g], source, part);
    const done = rows.length < limit;
    if (done) this.#statements.run("DELETE FROM sources WHERE space = ?", space.id);
    return { dropped: before - space.supports, done };
  }

  /** For a purge: removes up to `limit` quads. */
  dropQuads(space: SpaceRow, limit: number): number {
    const triples = this.#statements.all<[number, number, number]>(
      "SELECT s, p, o FROM spo WHERE space = ? ORDER BY s, p, o LIMIT ? + 0",
      space.id,
      limit,
    );
    for (const [s, p, o] of triples) this.#delete(space, [s, p, o, 0]);
    const quads = this.#statements.all<[number, number, number, number]>(
      "SELECT s, p, o, g FROM spog WHERE space = ? ORDER BY s, p, o, g LIMIT ? + 0",
      space.id,
      limit - triples.length,
    );
    for (const quad of quads) this.#delete(space, quad);
    return triples.length + quads.length;
  }

  #insertAll(
    space: SpaceRow,
    orders: readonly Order[],
    sorted: (columns: number[]) => Float64Array,
    count: number,
  ): number {
    if (count === 0) return 0;
    const counts = orders.map((order) =>
      insertRows(this.#statements, order, order.length, space.id, sorted(columnsOf(order))),
    );
    invariant(
      new Set(counts).size === 1,
      "CORRUPT",
      `the orders of space "${space.name}" do not hold the same quads: restore the file from a backup`,
    );
    return counts[0] as number;
  }

  #markAsserted(space: SpaceRow, ids: Float64Array, rows: Uint32Array): void {
    for (let at = 0; at < rows.length; at += 4) {
      const quad = idsAt(ids, rows, at);
      if (this.#hasSupport(space, quad)) this.#addSupport(space, quad, assertedSource, 0);
    }
  }

  #support(space: SpaceRow, ids: Float64Array, rows: Uint32Array, { source, part }: Support): void {
    const sourceId = this.#source(space, source);
    for (let at = 0; at < rows.length; at += 4) {
      const quad = idsAt(ids, rows, at);
      if (this.#isThere(space, quad) && !this.#hasSupport(space, quad))
        this.#addSupport(space, quad, assertedSource, 0);
      if (this.#addSupport(space, quad, sourceId, part)) space.supports += 1;
    }
  }

  #source(space: SpaceRow, name: string): number {
    const known = this.#statements.first<[number]>(
      "SELECT id FROM sources WHERE space = ? AND name = ?",
      space.id,
      name,
    )?.[0];
    if (known !== undefined) return known;
    const id = space.nextTerm;
    space.nextTerm += 1;
    this.#statements.run("INSERT INTO sources VALUES (?, ?, ?)", space.id, id, name);
    return id;
  }

  #isThere(space: SpaceRow, [s, p, o, g]: QuadIds): boolean {
    if (g === 0)
      return (
        this.#statements.first("SELECT 1 FROM spo WHERE space = ? AND s = ? AND p = ? AND o = ?", space.id, s, p, o) !==
        undefined
      );
    return this.#statements.first(`SELECT 1 FROM spog WHERE ${quadIs}`, space.id, s, p, o, g) !== undefined;
  }

  #hasSupport(space: SpaceRow, quad: QuadIds): boolean {
    return this.#statements.first(`SELECT 1 FROM supports WHERE ${quadIs} LIMIT 1`, space.id, ...quad) !== undefined;
  }

  #addSupport(space: SpaceRow, [s, p, o, g]: QuadIds, source: number, part: number): boolean {
    if (
      this.#statements.run(
        "INSERT OR IGNORE INTO supports VALUES (?, ?, ?, ?, ?, ?, ?)",
        space.id,
        s,
        p,
        o,
        g,
        source,
        part,
      ) === 0
    )
      return false;
    this.#statements.run(
      "INSERT INTO supports_by_source VALUES (?, ?, ?, ?, ?, ?, ?)",
      space.id,
      source,
      s,
      p,
      o,
      g,
      part,
    );
    return true;
  }

  #dropSupport(space: SpaceRow, [s, p, o, g]: QuadIds, source: number, part: number): void {
    this.#statements.run(
      `DELETE FROM supports WHERE ${quadIs} AND source = ? AND part = ?`,
      space.id,
      s,
      p,
      o,
      g,
      source,
      part,
    );
    this.#statements.run(
      "DELETE FROM supports_by_source WHERE space = ? AND source = ? AND s = ? AND p = ? AND o = ? AND g = ? AND part = ?",
      space.id,
      source,
      s,
      p,
      o,
      g,
      part,
    );
    if (source !== assertedSource) space.supports -= 1;
  }

  /** Deletes the quad from every order. Returns whether it existed. */
  #delete(space: SpaceRow, quad: QuadIds): boolean {
    const named = quad[3] !== 0;
    const deleted = (named ? quadOrders : tripleOrders).map((order) => {
      const where = placesOf(order).map((place) => `${place} = ?`);
      return this.#statements.run(
        `DELETE FROM ${order} WHERE space = ? AND ${where.join(" AND ")}`,
        space.id,
        ...columnsOf(order).map((column) => quad[column] as number),
      );
    });
    invariant(
      new Set(deleted).size === 1,
      "CORRUPT",
      `the orders of space "${space.name}" do not hold the same quads: restore the file from a backup`,
    );
    if (deleted[0] === 0) return false;
    if (named) space.quads -= 1;
    else space.triples -= 1;
    return true;
  }
}

export function idsAt(ids: Float64Array, rows: Uint32Array, at: number): QuadIds {
  return [
    ids[rows[at] as number] as number,
    ids[rows[at + 1] as number] as number,
    ids[rows[at + 2] as number] as number,
    ids[rows[at + 3] as number] as number,
  ];
}

function split(rows: Uint32Array): { triples: Uint32Array; quads: Uint32Array } {
  let named = 0;
  for (let at = 3; at < rows.length; at += 4) if (rows[at] !== 0) named += 1;
  if (named === 0) return { triples: rows, quads: rows.subarray(0, 0) };
  const triples = new Uint32Array(rows.length - named * 4);
  const quads = new Uint32Array(named * 4);
  let [t, q] = [0, 0];
  for (let at = 0; at < rows.length; at += 4) {
    const row = rows.subarray(at, at + 4);
    if (row[3] === 0) [, t] = [triples.set(row, t), t + 4];
    else [, q] = [quads.set(row, q), q + 4];
  }
  return { triples, quads };
}
