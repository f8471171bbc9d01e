/**
 * A commit: one transaction that locks its partitions, so that the plans are made on rows that cannot change. It carries out one request or
 * a group of them (commit-groups.ts), each on a partition of its own: they are planned separately, and written together.
 *
 * The locks come first and are advisory, for two reasons. A statement's snapshot is older than any lock it waits for, so the rows must be
 * read by a later statement. And a transaction's number is assigned at its first write: after the locks, which makes the order of numbers
 * the order of commits within every partition (feed.ts).
 *
 * No commit can be part of a deadlock: the container is locked first, while no partition is locked, and with a partition locked a commit
 * waits for no other lock of ours.
 */
import { setImmediate } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import { withinUtf8Bytes } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { CommitOutcome, StoredItem } from "../../items/item-engine.ts";
import {
  planBatch,
  touchedIds,
  type BatchPlan,
  type CommitRequest,
  type PreparedOperation,
} from "../../items/plan-batch.ts";
import type { Catalog, Loaded } from "./catalog.ts";
import { settle, type Database, type Transaction } from "./connection.ts";
import { settleAllClaims } from "./holders.ts";
import { partitionKeyOf, type Names } from "./names.ts";
import { sendChanges, sendWrites } from "./rows.ts";

export interface CommitDependencies {
  readonly database: Database;
  readonly names: Names;
  readonly catalog: Catalog;
}

/** Documents are parsed and prepared between two statements; after this many characters it yields to the event loop. */
const planCharsPerTurn = 1_048_576;

/** Waits until the partition is free. */
export async function commitAlone(
  parts: CommitDependencies,
  container: string,
  request: CommitRequest,
): Promise<CommitOutcome> {
  const [outcome] = await parts.database.transact((transaction) =>
    attempt(transaction, parts, container, [request], true),
  );
  return outcome as CommitOutcome;
}

/**
 * Each on another partition. Waits for no partition, so that no request is delayed by a neighbour: one whose partition is in use elsewhere
 * gets undefined, and has written nothing.
 */
export async function commitGroup(
  parts: CommitDependencies,
  container: string,
  requests: readonly CommitRequest[],
): Promise<(CommitOutcome | undefined)[]> {
  return parts.database.transact((transaction) => attempt(transaction, parts, container, requests, false));
}

async function attempt(
  transaction: Transaction,
  { names, catalog }: CommitDependencies,
  container: string,
  requests: readonly CommitRequest[],
  wait: boolean,
): Promise<(CommitOutcome | undefined)[]> {
  const locked = transaction.run(beginSql(names, container, requests, wait));
  const asked = transaction.query<CurrentRow>(currentSql(names, container), [container, ...wanted(requests)]);
  await settle([locked, asked]);
  const granted = await locked;
  const rows = await asked;
  const [version, epoch] = versionOf(rows, container);
  let loaded = catalog.get(container);
  if (loaded?.compiled.version !== version)
    loaded = (await catalog.load(transaction, container)).get(container) as Loaded;

  const current = currentItems(requests, rows);
  const plans: (BatchPlan | undefined)[] = [];
  let chars = 0;
  for (const [i, request] of requests.entries()) {
    const items = current[i] as Map<string, StoredItem>;
    plans.push(wait || granted[i] === true ? planBatch(loaded.compiled, request, items) : undefined);
    for (const { json } of items.values()) chars += json.length;
    if (chars > planCharsPerTurn) [chars] = [0, await setImmediate()];
  }
  const settled = await settleAllClaims(transaction, loaded, requests, plans);
  const writing = settled.flatMap((plan, i) =>
    plan?.ok === true && plan.writes.length > 0 ? [{ request: requests[i] as CommitRequest, plan }] : [],
  );
  if (writing.length > 0) {
    const feed = loaded.compiled.feed ? sendChanges(transaction, loaded, epoch, writing) : [];
    await transaction.commit([...sendWrites(transaction, loaded, writing), ...feed]);
  }
  return settled.map((plan) => (plan?.ok === true ? { ok: true, results: plan.results } : plan));
}

/** One message to the server. In the non-waiting case its last row tells which partitions were locked. */
function beginSql(names: Names, container: string, requests: readonly CommitRequest[], wait: boolean): string {
  const lock = wait ? "pg_advisory_xact_lock" : "pg_try_advisory_xact_lock";
  const partitions = requests.map(({ pk }) => `${lock}(${names.lock("partition", container, partitionKeyOf(pk))})`);
  const shared = `SELECT pg_advisory_xact_lock_shared(${names.lock("container", container)})`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED; ${shared}; SELECT ${partitions.join(", ")}`;
}

type CurrentRow = [
  version: number,
  epoch: number,
  request: number | null,
  id: string,
  etag: string,
  modifiedAt: number,
  ttl: number | null,
  json: string,
];

/**
 * Version and rows in one statement. Documents that the plan does not need are not read: for it, an item without one exists. Row by row
 * through the index, as in read.ts.
 */
function currentSql(names: Names, container: string): string {
  return `SELECT c.version, c.feed_epoch, t.* FROM ${names.containers} c LEFT JOIN (
      SELECT k.request, k.id, r.* FROM unnest($2::int[], $3::text[], $4::text[], $5::boolean[]) AS k (request, pk, id, read)
      CROSS JOIN LATERAL (SELECT etag, modified_at, ttl, CASE WHEN k.read THEN doc ELSE '' END FROM ${names.table(container)} WHERE pk = k.pk AND id = k.id OFFSET 0) AS r
    ) AS t ON true WHERE c.name = $1`;
}

function wanted(requests: readonly CommitRequest[]): [request: number[], pk: string[], id: string[], read: boolean[]] {
  const lists: ReturnType<typeof wanted> = [[], [], [], []];
  for (const [i, request] of requests.entries()) {
    const key = partitionKeyOf(request.pk);
    const read = new Set(request.operations.filter(readsDocument).map(({ idKey }) => idKey));
    for (const id of touchedIds(request)) {
      lists[0].push(i);
      lists[1].push(key);
      lists[2].push(id);
      lists[3].push(read.has(id));
    }
  }
  return lists;
}

/** Only these operations read the stored text (plan-batch.ts); the others need only existence and etag. */
function readsDocument(operation: PreparedOperation): boolean {
  if (operation.op === "patch" || operation.where !== undefined) return true;
  return (
    (operation.op === "remove" || operation.op === "purge") &&
    !withinUtf8Bytes(operation.idKey, limits.idNativeBytesMax)
  );
}

function versionOf(rows: readonly CurrentRow[], container: string): [version: number, epoch: number] {
  const [row] = rows;
  if (row === undefined)
    throw new PinakesError("NOT_FOUND", `Container "${container}" has been removed from the database; open it again.`);
  return [row[0], row[1]];
}

/** Aligned with the requests. */
function currentItems(requests: readonly CommitRequest[], rows: readonly CurrentRow[]): Map<string, StoredItem>[] {
  const current = requests.map(() => new Map<string, StoredItem>());
  for (const [, , i, idKey, etag, modifiedAt, ttl, json] of rows) {
    if (i !== null)
      current[i]?.set(idKey, { pk: (requests[i] as CommitRequest).pk, idKey, etag, modifiedAt, ttl, json });
  }
  return current;
}
