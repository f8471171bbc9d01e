/**
 * The change feed. Its order is (epoch, xid, n): the life of the cluster, the transaction's number, the place in the commit.
 *
 * Why nothing is skipped: numbers are given before commits become visible, so a lower one may appear after a higher one was read. A
 * page therefore ends below the oldest transaction that is still under way (xmin of the snapshot the page is read with): below it
 * all is settled. A long transaction anywhere in the cluster holds the feed up, and loses nothing.
 * Why a partition's order is its commit order: a commit gets its number while it holds the partition (commit.ts).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import { feedTrimmed, type FeedChange, type FeedPage, type FeedRequest } from "../../items/item-engine.ts";
import type { Loaded } from "./catalog.ts";
import type { Database, Session, Transaction } from "./connection.ts";
import { comparePositions, formatPosition, parsePosition, start, type Position } from "./feed-position.ts";
import type { Names } from "./names.ts";

/** How long a page waits for changes that are committed but held up: most transactions are over by then. */
const heldPausesMs = [2, 5, 10, 25, 50, 100];
const nMax = 2_147_483_647;

export async function changes(session: Session, names: Names, loaded: Loaded, request: FeedRequest): Promise<FeedPage> {
  if (request.position === "now") return { changes: [], position: formatPosition(await now(session, names, loaded)), more: false };
  const from = request.position === undefined ? start : parsePosition(request.position);
  for (const pause of heldPausesMs) {
    const { page, held } = await readPage(session, names, loaded, request, from);
    if (!held) return page;
    await sleep(pause);
  }
  // The reader's next call waits again, so one that asks until there is no more does not spin.
  return (await readPage(session, names, loaded, request, from)).page;
}

/** `held`: there is room for more, and more is committed, but something older is under way. */
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
  if (first === undefined) throw new PinakesError("NOT_FOUND", `Container "${loaded.compiled.name}" has been removed from the database; open it again.`);
  const [epoch, trimmedEpoch, trimmedXid, trimmedN, xmin, xmax] = first;
  const trimmed: Position = { epoch: trimmedEpoch, xid: BigInt(trimmedXid), n: trimmedN };
  const foreign = from.epoch > epoch || (from.epoch === epoch && from.xid >= BigInt(xmax));
  if (position !== undefined && (foreign || comparePositions(from, trimmed) < 0)) throw feedTrimmed(loaded.compiled.name);

  const found = rows.flatMap((row) => (row[6] === null ? [] : [row]));
  const settled = found.filter((row) => row[6] < epoch || BigInt(row[7]) < BigInt(xmin));
  const last = settled[limit - 1];
  const ended = settled.length <= limit;
  // All below xmin is settled and was given: an idle reader moves on with it, and does not fall behind what is kept.
  const mark = [from, trimmed, { epoch, xid: BigInt(xmin) - 1n, n: nMax }].toSorted(comparePositions).at(-1) as Position;
  const next: Position = ended || last === undefined ? mark : { epoch: last[6], xid: BigInt(last[7]), n: last[8] };
  const held = settled.length < limit && settled.length < found.length;
  return {
    page: {
      changes: settled.slice(0, limit).map(toChange),
      position: formatPosition({ ...next, seen: from.seen }),
      more: !ended || settled.length < found.length,
    },
    held,
  };
}

type Head = [epoch: number, trimmedEpoch: number, trimmedXid: string, trimmedN: number, xmin: string, xmax: string];
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

/** One statement, so that what was trimmed, xmin and the rows are of one moment. */
function pageSql(names: Names, { feed }: Loaded): string {
  return `SELECT c.feed_epoch, c.trimmed_epoch, c.trimmed_xid, c.trimmed_n, pg_snapshot_xmin(s.s), pg_snapshot_xmax(s.s), f.*
    FROM ${names.containers} c CROSS JOIN pg_current_snapshot() AS s (s) LEFT JOIN LATERAL (
      SELECT epoch, xid, n, kind, pk, id_key, id, etag, at, expired FROM ${feed}
      WHERE tenant = $2 AND (epoch, xid, n) > ($3, $4::xid8, $5) AND ($7::pg_snapshot IS NULL OR epoch > $3 OR NOT pg_visible_in_snapshot(xid, $7::pg_snapshot))
      ORDER BY epoch, xid, n LIMIT $6
    ) f ON true WHERE c.name = $1 ORDER BY f.epoch, f.xid, f.n`;
}

function toChange([, , , , , , , , , kind, pk, idKey, id, etag, at, expired]: FoundRow): FeedChange {
  return { kind, pk, idKey, id, etag, at, expired };
}

/** Below xmin all is past. Above, some is past and some under way: the snapshot goes along, to tell them apart later. */
async function now(session: Session, names: Names, { compiled: { name } }: Loaded): Promise<Position> {
  const [row] = await session.query<[number, number, string, number, string]>(
    `SELECT feed_epoch, trimmed_epoch, trimmed_xid, trimmed_n, pg_current_snapshot()::text FROM ${names.containers} WHERE name = $1`,
    [name],
  );
  const [epoch, trimmedEpoch, trimmedXid, trimmedN, seen] = row as [number, number, string, number, string];
  const [xmin] = seen.split(":") as [string];
  const safe: Position = { epoch, xid: BigInt(xmin) - 1n, n: nMax, seen };
  const trimmed: Position = { epoch: trimmedEpoch, xid: BigInt(trimmedXid), n: trimmedN, seen };
  return comparePositions(safe, trimmed) < 0 ? trimmed : safe;
}

/** From the front only, and only what is settled: what is forgotten is all that lies before one position, which is kept. */
export async function trimFeed(database: Database, names: Names, { compiled: { name }, feed }: Loaded, before: number, limit: number): Promise<number> {
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
    const deleted = transaction.query(`DELETE FROM ${feed} WHERE (epoch, xid, n) <= ($1, $2::xid8, $3) RETURNING 1`, position);
    const noted = transaction.query(
      `UPDATE ${names.containers} SET trimmed_epoch = $2, trimmed_xid = $3::xid8, trimmed_n = $4 WHERE name = $1 AND (trimmed_epoch, trimmed_xid, trimmed_n) < ($2, $3::xid8, $4)`,
      [name, ...position],
    );
    await transaction.commit([deleted, noted]);
    return (await deleted).length;
  };
  return database.transact(work, { idempotent: true });
}
