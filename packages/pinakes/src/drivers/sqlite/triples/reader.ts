/** Reads of one connection, each inside one transaction, so that the space's status, its terms and its rows are consistent. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { invariant } from "../../../domain/invariant.ts";
import { defaultGraph, type Quad, type TermText } from "../../../domain/rdf.ts";
import type { QuadPattern, SpaceInfo, SpaceUsage, Support } from "../../../ports/triple-store.ts";
import { matchOrder, type Position } from "../../../triples/match-order.ts";
import { badCursor, requireNotClosed, type SpaceStatus } from "../../../triples/space-errors.ts";
import type {
  MatchRequest,
  MatchResult,
  SourceRequest,
  SourceResult,
  SpaceKey,
} from "../../../triples/triple-engine.ts";
import type { QuadIds } from "./quad-writer.ts";
import { type Order, placesOf } from "./schema.ts";
import { Statements } from "./statements.ts";
import { isAsserted, rowsOfSource, supportsOf } from "./supports.ts";
import { spacesMax, TermReader } from "./term-reader.ts";

export class TripleReader {
  readonly #statements: Statements;
  readonly #terms: TermReader;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #space: StatementSync;

  constructor(db: DatabaseSync) {
    this.#statements = new Statements(db);
    this.#terms = new TermReader(this.#statements);
    this.#begin = db.prepare("BEGIN");
    this.#commit = db.prepare("COMMIT");
    this.#space = this.#statements.get("SELECT id, status FROM spaces WHERE tenant = ? AND name = ?");
  }

  match(key: SpaceKey, request: MatchRequest): MatchResult {
    return this.#transaction(() => {
      const space = this.#readable(key);
      const after = request.after === undefined ? undefined : placeOf(request.after);
      const ids = space === undefined ? undefined : this.#ids(space, request.pattern);
      if (space === undefined || ids === undefined) return { quads: [], next: undefined, examined: 0 };
      return this.#page(space, request, planRanges(request.pattern, ids), after);
    });
  }

  count(key: SpaceKey, pattern: QuadPattern, max: number | undefined): number {
    return this.#transaction(() => {
      const space = this.#readable(key);
      const ids = space === undefined ? undefined : this.#ids(space, pattern);
      if (space === undefined || ids === undefined) return 0;
      let count = 0;
      for (const range of planRanges(pattern, ids)) {
        if (max !== undefined && count >= max) break;
        count += this.#countRange(space, range, max === undefined ? undefined : max - count);
      }
      return count;
    });
  }

  supports(key: SpaceKey, quads: readonly Quad[], limit: number): Support[][] {
    return this.#transaction(() => {
      const space = this.#readable(key);
      if (space === undefined) return quads.map(() => []);
      return quads.map((quad) => {
        const ids = this.#quadIds(space, quad);
        return ids === undefined ? [] : supportsOf(this.#statements, space, ids, limit);
      });
    });
  }

  asserted(key: SpaceKey, quads: readonly Quad[]): boolean[] {
    return this.#transaction(() => {
      const space = this.#readable(key);
      return quads.map((quad) => {
        const ids = space === undefined ? undefined : this.#quadIds(space, quad);
        return space !== undefined && ids !== undefined && isAsserted(this.#statements, space, ids);
      });
    });
  }

  mayUse(key: SpaceKey, terms: readonly TermText[]): boolean[] {
    return this.#transaction(() => {
      const space = this.#readable(key);
      return terms.map((text) => space !== undefined && this.#terms.find(space, text) !== undefined);
    });
  }

  ofSource(key: SpaceKey, request: SourceRequest): SourceResult {
    return this.#transaction(() => {
      const space = this.#readable(key);
      const place = request.after === undefined ? undefined : placeOf(request.after);
      if (space === undefined) return { rows: [], next: undefined, examined: 0 };
      return rowsOfSource(this.#statements, this.#terms, space, request, place);
    });
  }

  graphs(key: SpaceKey, after: string | undefined, limit: number): { graphs: TermText[]; next?: string } {
    return this.#transaction(() => {
      const space = this.#readable(key);
      const from = after === undefined ? [0] : placeOf(after);
      if (from.length !== 1) throw badCursor();
      if (space === undefined) return { graphs: [] };
      const ids: number[] = [];
      // From each name to the next: however many quads a graph has, it costs one row.
      for (let last = from[0] as number; ids.length <= limit;) {
        const row = this.#statements.first<[number]>(
          "SELECT g FROM gspo WHERE space = ? AND g > ? ORDER BY g LIMIT 1",
          space,
          last,
        );
        if (row === undefined) break;
        [last] = row;
        ids.push(last);
      }
      const graphs = ids.slice(0, limit).map((id) => this.#terms.text(space, id));
      return ids.length > limit ? { graphs, next: String(ids[limit - 1]) } : { graphs };
    });
  }

  usage({ tenant, space }: SpaceKey): SpaceUsage {
    const row = this.#statements.first<[number, number, number]>(
      "SELECT triples + quads, supports, terms FROM spaces WHERE tenant = ? AND name = ?",
      tenant,
      space,
    );
    return { quads: row?.[0] ?? 0, supports: row?.[1] ?? 0, terms: row?.[2] ?? 0 };
  }

  spaces(tenant: string, after: string, limit: number): { spaces: SpaceInfo[]; done: boolean } {
    const rows = this.#statements.all<[string, SpaceStatus]>(
      "SELECT name, status FROM spaces WHERE tenant = ? AND name > ? ORDER BY name LIMIT ? + 0",
      tenant,
      after,
      limit + 1,
    );
    return { spaces: rows.slice(0, limit).map(([space, status]) => ({ space, status })), done: rows.length <= limit };
  }

  #page(
    space: number,
    { pattern, limit, charsMax }: MatchRequest,
    ranges: readonly Range[],
    after: readonly number[] | undefined,
  ): MatchResult {
    const quads: Quad[] = [];
    let examined = 0;
    let chars = 0;
    // The range and the row of the last returned quad: the position where the next page continues.
    let [lastRange, lastRow]: [number, readonly number[]] = [0, []];
    // A position begins with the number of its range.
    const start = after?.[0] ?? 0;
    if (start >= ranges.length) throw badCursor();
    for (const [number, range] of ranges.entries()) {
      if (number < start) continue;
      const from = number === start && after !== undefined ? after.slice(1) : undefined;
      if (from !== undefined && from.length !== range.free.length) throw badCursor();
      // Reads one more than requested to detect whether there are more.
      const rows = this.#rows(space, range, from, limit - quads.length + 1);
      examined += rows.length;
      const quadOf = this.#maker(space, pattern, range);
      for (const row of rows) {
        if (quads.length === limit || (chars >= charsMax && quads.length > 0)) {
          const columns = lastRow.slice(0, ranges[lastRange]?.free.length);
          return { quads, next: [lastRange, ...columns].join("."), examined };
        }
        const quad = quadOf(row);
        chars += quad.s.length + quad.p.length + quad.o.length;
        quads.push(quad);
        lastRange = number;
        lastRow = row;
      }
    }
    return { quads, next: undefined, examined };
  }

  #rows(space: number, range: Range, from: readonly number[] | undefined, limit: number): number[][] {
    // Everything is bound: nothing follows the single row.
    if (from?.length === 0) return [];
    const statement = this.#statements.get(rangeSql(range, from === undefined ? "first" : "after"));
    return statement.all(space, ...range.bound, ...(from ?? []), limit) as unknown as number[][];
  }

  #countRange(space: number, range: Range, max: number | undefined): number {
    if (range.bound.length === 0) {
      const column = range.order.length === 3 ? "triples" : "quads";
      const [count] = this.#statements.first<[number]>(`SELECT ${column} FROM spaces WHERE id = ?`, space) as [number];
      return max === undefined ? count : Math.min(count, max);
    }
    const values = [space, ...range.bound, ...(max === undefined ? [] : [max])];
    return (
      this.#statements.first<[number]>(rangeSql(range, max === undefined ? "count" : "countUpTo"), ...values) as [
        number,
      ]
    )[0];
  }

  /** Creates quads from a range's rows: the bound terms, and the texts of the rest. */
  #maker(space: number, pattern: QuadPattern, { free }: Range): (row: readonly number[]) => Quad {
    const [s, p, o, g] = (["s", "p", "o", "g"] as const).map((place) => free.indexOf(place)) as [
      number,
      number,
      number,
      number,
    ];
    const terms = this.#terms;
    const read = (row: readonly number[], column: number, bound: TermText | undefined): TermText =>
      column === -1 ? (bound ?? defaultGraph) : terms.text(space, row[column] as number);
    return (row) => ({
      s: read(row, s, pattern.s),
      p: read(row, p, pattern.p),
      o: read(row, o, pattern.o),
      g: read(row, g, pattern.g),
    });
  }

  /** Undefined if one of the terms is not in the space: then nothing matches. */
  #ids(space: number, pattern: QuadPattern): MatchIds | undefined {
    const ids: { -readonly [Place in keyof MatchIds]: MatchIds[Place] } = {
      s: undefined,
      p: undefined,
      o: undefined,
      g: undefined,
    };
    for (const place of ["s", "p", "o", "g"] as const) {
      const text = pattern[place];
      if (text === undefined) continue;
      const id = place === "g" && text === defaultGraph ? 0 : this.#terms.find(space, text);
      if (id === undefined) return undefined;
      ids[place] = id;
    }
    return ids;
  }

  #quadIds(space: number, quad: Quad): QuadIds | undefined {
    const ids = this.#ids(space, quad);
    return ids && [ids.s as number, ids.p as number, ids.o as number, ids.g as number];
  }

  /** Undefined for a space that never existed. */
  #readable({ tenant, space }: SpaceKey): number | undefined {
    const row = this.#space.get(tenant, space) as unknown as [number, SpaceStatus] | undefined;
    if (row === undefined) return undefined;
    requireNotClosed(space, row[1]);
    invariant(row[0] < spacesMax, "LIMIT_EXCEEDED", `a triple file contains at most ${spacesMax} spaces`);
    return row[0];
  }

  #transaction<T>(read: () => T): T {
    this.#begin.run();
    try {
      return read();
    } finally {
      this.#commit.run();
    }
  }
}

/** The end of a page: the number of its range and the free columns of its last row. */
function placeOf(text: string): number[] {
  const numbers = text.split(".").map(Number);
  if (text.length > 100 || !/^\d+(\.\d+)*$/.test(text) || !numbers.every(Number.isSafeInteger)) throw badCursor();
  return numbers;
}

/** A pattern as ranges of orders: one of triples, one of named quads, or both in sequence. */
interface Range {
  readonly order: Order;
  /** The numbers of the first columns after the space. */
  readonly bound: readonly number[];
  /** The columns that follow. */
  readonly free: readonly Position[];
}

type MatchIds = Readonly<Record<Position, number | undefined>>;

export function planRanges(pattern: QuadPattern, ids: MatchIds): Range[] {
  const { places, bound } = matchOrder(pattern);
  const prefix = places.slice(0, bound).map((place) => ids[place] as number);
  const triples = (): Range => rangeOf(places.join("") as Order, prefix);
  if (pattern.g === defaultGraph) return [triples()];
  if (pattern.g !== undefined) return [rangeOf(`g${places.join("")}` as Order, [ids.g as number, ...prefix])];
  return [triples(), rangeOf(`${places.join("")}g` as Order, prefix)];
}

function rangeOf(order: Order, bound: readonly number[]): Range {
  return { order, bound, free: placesOf(order).slice(bound.length) };
}

const sqls = new Map<string, string>();

/** The parameters are the space, the bound terms, the position to continue from, and the limit. */
export function rangeSql(range: Range, want: "first" | "after" | "count" | "countUpTo"): string {
  const key = `${range.order}${range.bound.length}${want}`;
  let sql = sqls.get(key);
  if (sql === undefined) {
    sql = makeSql(range, want);
    sqls.set(key, sql);
  }
  return sql;
}

function makeSql({ order, bound, free }: Range, want: "first" | "after" | "count" | "countUpTo"): string {
  const columns = free.join(", ");
  const where = [
    "space = ?",
    ...placesOf(order)
      .slice(0, bound.length)
      .map((column) => `${column} = ?`),
  ].join(" AND ");
  if (want === "count") return `SELECT count(*) FROM ${order} WHERE ${where}`;
  if (want === "countUpTo") return `SELECT count(*) FROM (SELECT 1 FROM ${order} WHERE ${where} LIMIT ? + 0)`;
  if (free.length === 0) return `SELECT 1 FROM ${order} WHERE ${where} LIMIT ? + 0`;
  const after = want === "after" ? ` AND (${columns}) > (${free.map(() => "?").join(", ")})` : "";
  return `SELECT ${columns} FROM ${order} WHERE ${where}${after} ORDER BY ${columns} LIMIT ? + 0`;
}
