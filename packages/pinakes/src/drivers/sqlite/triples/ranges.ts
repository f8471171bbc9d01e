/** A pattern as ranges of orders: one of triples, one of named quads, or both, one after the other. */
import { defaultGraph } from "../../../domain/rdf.ts";
import type { QuadPattern } from "../../../ports/triple-store.ts";
import { matchOrder, type Position } from "../../../triples/match-order.ts";
import { placesOf, type Order } from "./schema.ts";

export interface Range {
  readonly order: Order;
  /** The numbers of the first columns after the space. */
  readonly bound: readonly number[];
  /** The columns that follow. */
  readonly free: readonly Position[];
}

export type MatchIds = Readonly<Record<Position, number | undefined>>;

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
