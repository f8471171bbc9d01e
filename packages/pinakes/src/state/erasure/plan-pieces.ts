/**
 * Which metrics of one day become anonymous together (R-AGT-66): pieces of five to nine rows of one agent and type, of one hour, model and
 * environment where there are enough, else of the day. Where the day has fewer than five, they are one piece: totals for each day, agent and
 * type must stay equal, so there is nothing to merge them with.
 */
import type { WalkedItem } from "../../ports/item-erasure.ts";
import type { Piece } from "./anonymous-rows.ts";

/** k: no anonymous group is smaller where it can be larger. */
export const groupRowsMin = 5;

export function planPieces(rows: readonly WalkedItem[]): readonly Piece[] {
  const byTotal = Map.groupBy(rows, ({ document }) => JSON.stringify([document["agent_id"], document["metric_type"]]));
  return [...byTotal.values()].flatMap(piecesOf);
}

function piecesOf(rows: readonly WalkedItem[]): readonly Piece[] {
  const byHour = Map.groupBy(rows, hourGroup);
  const pieces: Piece[] = [];
  let pool: WalkedItem[] = [];
  for (const group of byHour.values()) {
    if (group.length < groupRowsMin) pool.push(...group);
    else pieces.push(...split(group).map((some) => ({ of: "hour", rows: some }) as const));
  }
  if (pool.length > 0 && pool.length < groupRowsMin) pool = [...pool, ...(pieces.pop()?.rows ?? [])];
  return [...pieces, ...split(pool).map((some) => ({ of: "day", rows: some }) as const)];
}

function hourGroup({ document }: WalkedItem): string {
  const { environment, model } = (document["dimensions"] ?? {}) as { environment?: unknown; model?: unknown };
  return JSON.stringify([(document["timestamp"] as string).slice(0, 13), environment, model]);
}

/** Into pieces of `groupRowsMin` and the last of up to twice as many less one, which is within every engine's batch. */
function split(rows: readonly WalkedItem[]): readonly (readonly WalkedItem[])[] {
  const pieces: (readonly WalkedItem[])[] = [];
  let at = 0;
  for (; rows.length - at >= 2 * groupRowsMin; at += groupRowsMin) pieces.push(rows.slice(at, at + groupRowsMin));
  return at < rows.length ? [...pieces, rows.slice(at)] : pieces;
}
