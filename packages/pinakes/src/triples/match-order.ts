/**
 * Chooses the index order that answers a pattern: one in which all bound positions come first. Three orders suffice within a graph, and
 * three that start with the graph for a named graph.
 */
import { defaultGraph } from "../domain/rdf.ts";
import type { QuadPattern } from "../ports/triple-store.ts";

export type Position = "s" | "p" | "o" | "g";

export interface MatchOrder {
  /** Subject, predicate and object in the index's order. */
  readonly places: readonly [Position, Position, Position];
  /** How many of them the pattern binds; these always come first. */
  readonly bound: number;
}

const spo = ["s", "p", "o"] as const;
const pos = ["p", "o", "s"] as const;
const osp = ["o", "s", "p"] as const;

/** Indexed by which of s (1), p (2) and o (4) are bound. */
const orders: readonly MatchOrder[] = [
  { places: spo, bound: 0 },
  { places: spo, bound: 1 },
  { places: pos, bound: 1 },
  { places: spo, bound: 2 },
  { places: osp, bound: 1 },
  { places: osp, bound: 2 },
  { places: pos, bound: 2 },
  { places: spo, bound: 3 },
];

export function matchOrder({ s, p, o }: QuadPattern): MatchOrder {
  return orders[(s === undefined ? 0 : 1) + (p === undefined ? 0 : 2) + (o === undefined ? 0 : 4)] as MatchOrder;
}

/** Cursors are bound to it: a position in one order is meaningless in another. */
export function patternShape({ s, p, o, g }: QuadPattern): string {
  const graph = g === undefined ? "*" : g === defaultGraph ? "d" : "g";
  return `${s === undefined ? "-" : "s"}${p === undefined ? "-" : "p"}${o === undefined ? "-" : "o"}${graph}`;
}
