/** Positions in the feed, as text that a cursor can carry: "epoch:xid:n", and perhaps "|" and a snapshot. */
import { invalid } from "../../domain/errors.ts";

export interface Position {
  readonly epoch: number;
  readonly xid: bigint;
  readonly n: number;
  /** A pg_snapshot: what it shows was committed before the reader asked for "now", whatever its number. */
  readonly seen?: string | undefined;
}

export const start: Position = { epoch: 0, xid: 0n, n: 0 };

export function comparePositions(a: Position, b: Position): number {
  if (a.epoch !== b.epoch) return a.epoch - b.epoch;
  if (a.xid !== b.xid) return a.xid < b.xid ? -1 : 1;
  return a.n - b.n;
}

export function formatPosition({ epoch, xid, n, seen }: Position): string {
  // Beyond its xmax a snapshot shows nothing, so it need not be carried on.
  const needed = seen !== undefined && xid + 1n < BigInt(seen.split(":")[1] as string);
  return `${epoch}:${xid}:${n}${needed ? `|${seen}` : ""}`;
}

export function parsePosition(text: string): Position {
  const match = /^(\d+):(\d+):(\d+)(?:\|(\d+:\d+:[\d,]*))?$/.exec(text);
  if (match === null) throw invalid("The feed cursor is not one of PostgreSQL's; start over without it.");
  const [, epoch, xid, n, seen] = match;
  return { epoch: Number(epoch), xid: BigInt(xid as string), n: Number(n), seen };
}
