/** Which ranges answer a pattern, in which order, and positions in them. */
import { defaultGraph } from "../../../domain/rdf.ts";
import type { QuadPattern } from "../../../ports/triple-store.ts";
import { matchOrder, type Position } from "../../../triples/match-order.ts";
import { badCursor } from "../../../triples/space-errors.ts";
import { rangeSql } from "./ranges.ts";
import type { TripleTables } from "./tables.ts";
import { hashOf, termSql } from "./terms.ts";

/** One range of one index. */
export interface Scan {
  readonly table: "triples" | "quads";
  readonly order: readonly Position[];
  /** How many columns of the order the pattern binds. */
  readonly bound: number;
}

/** Quads of the default graph come before those of named ones. */
export function scansOf(pattern: QuadPattern): readonly Scan[] {
  const { places, bound } = matchOrder(pattern);
  if (pattern.g === defaultGraph) return [{ table: "triples", order: places, bound }];
  if (pattern.g !== undefined) return [{ table: "quads", order: ["g", ...places], bound: bound + 1 }];
  return [
    { table: "triples", order: places, bound },
    { table: "quads", order: [...places, "g"], bound },
  ];
}

/** Where a page ended: the scan, and the numbers of the row's columns that the pattern leaves open. So it cannot lead out of the pattern. */
export interface ScanCursor {
  readonly scan: number;
  readonly numbers: readonly number[];
}

export function placeText({ scan, numbers }: ScanCursor): string {
  return [scan, ...numbers].join(".");
}

export function parsePlace(text: string, scans: readonly Scan[]): ScanCursor {
  const [scan = -1, ...numbers] = /^\d{1,15}(\.\d{1,15})*$/.test(text) ? text.split(".").map(Number) : [];
  const target = scans[scan];
  if (target === undefined || numbers.length !== target.order.length - target.bound) throw badCursor();
  return { scan, numbers };
}

/** The pattern's terms as numbers: a row called `k` with a column for each of them. Each is looked up once. */
export function boundSql(tables: TripleTables, pattern: QuadPattern, space: string, values: unknown[]): string {
  const columns = (["s", "p", "o", "g"] as const).flatMap((place) => {
    const text = pattern[place];
    if (text === undefined || text === defaultGraph) return [];
    return [`${termSql(tables, space, `$${values.push(hashOf(text))}`, `$${values.push(text)}`)} AS ${place}`];
  });
  return `(SELECT ${columns.length === 0 ? "1" : columns.join(", ")} OFFSET 0) k`;
}

/**
 * The ranges of a pattern one after the other, from a position on: a `SELECT` with the columns scan, s, p, o and g. `space` and `limit` are
 * expressions; `k` is the row of `boundSql`. The limit bounds each range, and the caller bounds the whole: the second range is read only if
 * the first was not enough.
 */
export function scansSql(
  tables: TripleTables,
  pattern: QuadPattern,
  after: ScanCursor | undefined,
  space: string,
  limit: string,
  values: unknown[],
): string {
  const parts = scansOf(pattern).flatMap(({ table, order, bound }, i) => {
    if (after !== undefined && i < after.scan) return [];
    const from = after?.scan === i ? after.numbers.map((number) => `$${values.push(number)}::bigint`) : undefined;
    const range = rangeSql({
      table: tables[table],
      order,
      space,
      bound: order.slice(0, bound).map((place) => `k.${place}`),
      after: from,
    });
    return [
      `(SELECT ${i} AS scan, t.s, t.p, t.o, ${table === "quads" ? "t.g" : "0::bigint AS g"} ${range} LIMIT ${limit})`,
    ];
  });
  return parts.join(" UNION ALL ");
}
