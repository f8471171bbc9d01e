/**
 * The change feed. Its order is (epoch, xid, n): the incarnation of the cluster, the transaction's number, the position in the commit.
 *
 * Why nothing is skipped: numbers are assigned before commits become visible, so a lower one may appear after a higher one was read. A page
 * therefore ends below the oldest running transaction (xmin of the snapshot the page is read with): below it all is settled. A long
 * transaction anywhere in the cluster delays the feed, and loses nothing. Why a partition's order is its commit order: a commit gets its
 * number while it holds the partition's lock (commit.ts). Why a crash skips nothing: PostgreSQL reuses only numbers that no durable row
 * has. So a position is always that of a row, of any tenant, which was durable before it was visible (connection.ts); no later row gets a
 * number as low as that.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { feedTrimmed, type FeedChange, type FeedPage, type FeedRequest } from "../../items/item-engine.ts";
import type { Loaded } from "./catalog.ts";
import type { Database, Session, Transaction } from "./connection.ts";
import type { Names } from "./names.ts";

/** How long a page waits for changes that are committed but held up: most transactions are over by then. */
const heldPausesMs = [2, 5, 10, 25, 50, 100];

export async function changes(session: Session, names: Names, loaded: Loaded, request: FeedRequest): Promise<FeedPage> {
  if (request.position === "now")
    return { changes: [], position: formatPosition(await now(session, names, loaded)), more: false };
  const from = request.position === undefined ? start : parsePosition(request.position);
  for (const pause of heldPausesMs) {
    const { page, held } = await readPage(session, names, loaded, request, from);
    if (!held) return page;
    await sleep(pause);
  }
  // The reader's next call waits again, so one that asks until there is no more does not spin.
  return (await readPage(session, names, loaded, request, from)).page;
}

/** `held`: there is room for more, and more is committed, but an older transaction is running. */
async function readPage(
  session: Session,
  names: Names,
  loaded: Loaded,
  { tenant, position, limit }: FeedRequest,
  from: Position,
): Promise<{ page: FeedPage; held: boolean }> {
  const rows = await session.query<PageRow>(pageSql(names, loaded), [
    loaded.compiled.name,
    tenant,
    from.epoch,
    String(from.xid),
    from.n,
    limit + 1,
    from.seen ?? null,
  ]);
  const [first] = rows;
  if (first === undefined) throw removed(loaded.compiled.name);
  const [epoch, trimmedEpoch, trimmedXid, trimmedN, xmin, xmax, lastEpoch, lastXid, lastN] = first;
  const trimmed: Position = { epoch: trimmedEpoch, xid: BigInt(trimmedXid), n: trimmedN };
  const lastSettled: Position = lastEpoch === null ? trimmed : { epoch: lastEpoch, xid: BigInt(lastXid), n: lastN };
  const foreign = from.epoch > epoch || (from.epoch === epoch && from.xid >= BigInt(xmax));
  if (position !== undefined && (foreign || comparePositions(from, trimmed) < 0))
    throw feedTrimmed(loaded.compiled.name);

  const found = rows.flatMap((row) => (row[9] === null ? [] : [row]));
  const settled = found.filter((row) => row[9] < epoch || BigInt(row[10]) < BigInt(xmin));
  const last = settled[limit - 1];
  const ended = settled.length <= limit;
  // Everything below xmin is settled and was returned: an idle reader advances with other tenants' rows, and is not trimmed away.
  const next: Position =
    ended || last === undefined
      ? latest(from, trimmed, lastSettled)
      : { epoch: last[9], xid: BigInt(last[10]), n: last[11] };
  const held = settled.length < limit && settled.length < found.length;
  return {
    page: {
      changes: settled.slice(0, limit).map(toChange),
      position: formatPosition({ ...next, seen: next.epoch === from.epoch ? from.seen : undefined }),
      more: !ended || settled.length < found.length,
    },
    held,
  };
}

function removed(name: string): PinakesError {
  return new PinakesError("NOT_FOUND", `Container "${name}" has been removed from the database; open it again.`);
}

function latest(...positions: readonly Position[]): Position {
  return positions.toSorted(comparePositions).at(-1) as Position;
}

type LastRow = [epoch: number, xid: string, n: number] | [epoch: null, xid: string, n: number];
type Head = [
  epoch: number,
  trimmedEpoch: number,
  trimmedXid: string,
  trimmedN: number,
  xmin: string,
  xmax: string,
  ...LastRow,
];
type FoundRow = [
  ...Head,
  epoch: number,
  xid: string,
  n: number,
  kind: "put" | "delete",
  pk: string,
  idKey: string,
  id: string,
  etag: string,
  at: number,
  expired: boolean,
];
type PageRow = FoundRow | [...Head, epoch: null];

/** One statement, so that the trim position, xmin and the rows are of one moment. */
function pageSql(names: Names, { feed }: Loaded): string {
  return `SELECT c.feed_epoch, c.trimmed_epoch, c.trimmed_xid, c.trimmed_n, pg_snapshot_xmin(s.s), pg_snapshot_xmax(s.s), l.*, f.*
    FROM ${names.containers} c CROSS JOIN pg_current_snapshot() AS s (s) LEFT JOIN LATERAL (${lastSql(feed)}) l ON true LEFT JOIN LATERAL (
      SELECT epoch, xid, n, kind, pk, id_key, id, etag, at, expired FROM ${feed}
      WHERE tenant = $2 AND (epoch, xid, n) > ($3, $4::xid8, $5) AND ($7::pg_snapshot IS NULL OR epoch > $3 OR xid < pg_snapshot_xmin($7::pg_snapshot) OR NOT pg_visible_in_snapshot(xid, $7::pg_snapshot))
      ORDER BY epoch, xid, n LIMIT $6
    ) f ON true WHERE c.name = $1 ORDER BY f.epoch, f.xid, f.n`;
}

/** The last row below all running transactions. */
function lastSql(feed: string): string {
  return `SELECT epoch, xid, n FROM ${feed} WHERE (epoch, xid) < (c.feed_epoch, pg_snapshot_xmin(s.s)) ORDER BY epoch DESC, xid DESC, n DESC LIMIT 1`;
}

function toChange([, , , , , , , , , , , , kind, pk, idKey, id, etag, at, expired]: FoundRow): FeedChange {
  return { kind, pk, idKey, id, etag, at, expired };
}

/**
 * Below xmin everything is settled. Above, some transactions are committed and some running: the snapshot is stored to tell them apart
 * later. It is cut off behind the last row, for numbers beyond may be reused after a crash.
 */
async function now(session: Session, names: Names, { compiled: { name }, feed }: Loaded): Promise<Position> {
  const [row] = await session.query<[number, number, string, number, string, string | null, ...LastRow]>(
    `SELECT c.feed_epoch, c.trimmed_epoch, c.trimmed_xid, c.trimmed_n, s.s::text,
       (SELECT xid FROM ${feed} WHERE epoch = c.feed_epoch ORDER BY epoch DESC, xid DESC, n DESC LIMIT 1), l.*
     FROM ${names.containers} c CROSS JOIN pg_current_snapshot() AS s (s) LEFT JOIN LATERAL (${lastSql(feed)}) l ON true WHERE c.name = $1`,
    [name],
  );
  if (row === undefined) throw removed(name);
  const [epoch, trimmedEpoch, trimmedXid, trimmedN, snapshot, seenXid, lastEpoch, lastXid, lastN] = row;
  const trimmed: Position = { epoch: trimmedEpoch, xid: BigInt(trimmedXid), n: trimmedN };
  const lastSettled: Position = lastEpoch === null ? trimmed : { epoch: lastEpoch, xid: BigInt(lastXid), n: lastN };
  // At least the beginning of the epoch: the snapshot is of this epoch.
  return {
    ...latest({ epoch, xid: 0n, n: 0 }, trimmed, lastSettled),
    seen: seenXid === null ? undefined : cutOff(snapshot, BigInt(seenXid)),
  };
}

/** The snapshot without what lies beyond `last`; undefined if nothing remains to tell apart. */
function cutOff(snapshot: string, last: bigint): string | undefined {
  const [xmin, , underWay] = snapshot.split(":") as [string, string, string];
  if (last < BigInt(xmin)) return undefined;
  const kept = underWay.split(",").filter((xid) => xid !== "" && BigInt(xid) <= last);
  return `${xmin}:${last + 1n}:${kept.join(",")}`;
}

/** From the front only, and only what is settled: exactly what lies before one position is trimmed, and the position is stored. */
export async function trimFeed(
  database: Database,
  names: Names,
  { compiled: { name }, feed }: Loaded,
  before: number,
  limit: number,
): Promise<number> {
  const work = async (transaction: Transaction): Promise<number> => {
    await transaction.run("BEGIN ISOLATION LEVEL READ COMMITTED");
    const oldest = await transaction.query<[number, string, number, number]>(
      `SELECT f.epoch, f.xid, f.n, f.at FROM ${names.containers} c, ${feed} f
       WHERE c.name = $1 AND (f.epoch < c.feed_epoch OR f.xid < pg_snapshot_xmin(pg_current_snapshot())) ORDER BY f.epoch, f.xid, f.n LIMIT $2`,
      [name, limit],
    );
    const kept = oldest.findIndex(([, , , at]) => at >= before);
    const last = oldest[(kept === -1 ? oldest.length : kept) - 1];
    if (last === undefined) return 0;
    const position = last.slice(0, 3);
    const deleted = transaction.query(
      `DELETE FROM ${feed} WHERE (epoch, xid, n) <= ($1, $2::xid8, $3) RETURNING 1`,
      position,
    );
    const noted = transaction.query(
      `UPDATE ${names.containers} SET trimmed_epoch = $2, trimmed_xid = $3::xid8, trimmed_n = $4 WHERE name = $1 AND (trimmed_epoch, trimmed_xid, trimmed_n) < ($2, $3::xid8, $4)`,
      [name, ...position],
    );
    await transaction.commit([deleted, noted]);
    return (await deleted).length;
  };
  return database.transact(work, { idempotent: true });
}

/** Positions in the feed, as text that a cursor can carry: "epoch:xid:n", and perhaps "|" and a snapshot. */
interface Position {
  readonly epoch: number;
  readonly xid: bigint;
  readonly n: number;
  /** A pg_snapshot: what it shows was committed before the reader asked for "now", whatever its number. */
  readonly seen?: string | undefined;
}

const start: Position = { epoch: 0, xid: 0n, n: 0 };

function comparePositions(a: Position, b: Position): number {
  if (a.epoch !== b.epoch) return a.epoch - b.epoch;
  if (a.xid !== b.xid) return a.xid < b.xid ? -1 : 1;
  return a.n - b.n;
}

function formatPosition({ epoch, xid, n, seen }: Position): string {
  // Beyond its xmax a snapshot shows nothing, so it need not be carried on.
  const needed = seen !== undefined && xid + 1n < BigInt(seen.split(":")[1] as string);
  return `${epoch}:${xid}:${n}${needed ? `|${seen}` : ""}`;
}

function parsePosition(text: string): Position {
  const match = /^(\d+):(\d+):(\d+)(?:\|(\d+:\d+:[\d,]*))?$/.exec(text);
  if (match === null) throw invalid("The feed cursor is not one of PostgreSQL's; start over without it.");
  const [, epoch, xid, n, seen] = match;
  return { epoch: Number(epoch), xid: BigInt(xid as string), n: Number(n), seen };
}
