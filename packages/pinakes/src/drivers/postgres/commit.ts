/**
 * A commit: one transaction that holds its partition, so that the plan is made on rows nobody else can change.
 *
 * The locks come first and are advisory, for two reasons. A statement's snapshot is older than any lock it waits for, so the rows must
 * be read by a later statement. And a transaction's number is given at its first write: after the lock, which makes the order of
 * numbers the order of commits within the partition (feed.ts).
 */
import { PinakesError } from "../../domain/errors.ts";
import { withinUtf8Bytes } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { CommitOutcome, StoredItem } from "../../items/item-engine.ts";
import { planBatch, touchedIds, type CommitRequest, type PreparedOperation } from "../../items/plan-batch.ts";
import { settleClaims, uniqueClaims, type UniqueClaim } from "../../items/unique-keys.ts";
import type { Catalog, Loaded } from "./catalog.ts";
import { settle, type Database, type Session, type Transaction } from "./connection.ts";
import { partitionKeyOf, quote, uniqueColumn, type Names } from "./names.ts";
import { sendChanges, sendWrites } from "./rows.ts";

export async function commit(database: Database, names: Names, catalog: Catalog, container: string, request: CommitRequest): Promise<CommitOutcome> {
  return database.transact((transaction) => attempt(transaction, names, catalog, container, request));
}

async function attempt(transaction: Transaction, names: Names, catalog: Catalog, container: string, request: CommitRequest): Promise<CommitOutcome> {
  const key = partitionKeyOf(request.pk);
  // The container first: whoever waits for it holds no partition, so that these two cannot deadlock with a change of the definition.
  const begun = transaction.run(
    `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock_shared(${names.lock("container", container)}); SELECT pg_advisory_xact_lock(${names.lock("partition", container, key)})`,
  );
  const asked = transaction.query<CurrentRow>(currentSql(names, container), [
    container,
    key,
    touchedIds(request),
    request.operations.filter(readsDocument).map(({ idKey }) => idKey),
  ]);
  await settle([begun, asked]);
  const rows = await asked;
  const [version, epoch] = versionOf(rows, container);
  let loaded = catalog.get(container);
  if (loaded?.compiled.version !== version) loaded = (await catalog.load(transaction, container)).get(container) as Loaded;

  let plan = planBatch(loaded.compiled, request, currentItems(request.pk, rows));
  if (!plan.ok) return plan;
  const claims = uniqueClaims(plan.writes);
  if (claims.length > 0) plan = settleClaims(loaded.compiled, plan, claims, await holdersOf(transaction, loaded, request.pk, claims), request.now);
  if (!plan.ok) return plan;
  const { writes, changes, results } = plan;
  if (writes.length === 0) return { ok: true, results };
  const feed = loaded.compiled.feed ? sendChanges(transaction, loaded, request.tenant, request.pk, epoch, changes) : [];
  await transaction.commit([...sendWrites(transaction, loaded, request.pk, writes), ...feed]);
  return { ok: true, results };
}

type CurrentRow = [version: number, epoch: number, id: string | null, etag: string, modifiedAt: number, ttl: number | null, json: string];

/** Version and rows in one statement. Documents that the plan does not look at stay where they are: to it, an item without one exists. */
function currentSql(names: Names, container: string): string {
  return `SELECT c.version, c.feed_epoch, t.id, t.etag, t.modified_at, t.ttl, CASE WHEN t.id = ANY ($4::text[]) THEN t.doc ELSE '' END
    FROM ${names.containers} c LEFT JOIN ${names.table(container)} t ON t.pk = $2 AND t.id = ANY ($3) WHERE c.name = $1`;
}

/** Only these operations read the stored text (plan-batch.ts); the others ask whether there is an item, and for its etag. */
function readsDocument(operation: PreparedOperation): boolean {
  if (operation.op === "patch" || operation.where !== undefined) return true;
  return (operation.op === "remove" || operation.op === "purge") && !withinUtf8Bytes(operation.idKey, limits.idNativeBytesMax);
}

function versionOf(rows: readonly CurrentRow[], container: string): [version: number, epoch: number] {
  const [row] = rows;
  if (row === undefined) throw new PinakesError("NOT_FOUND", `Container "${container}" has been removed from the database; open it again.`);
  return [row[0], row[1]];
}

function currentItems(pk: string, rows: readonly CurrentRow[]): Map<string, StoredItem> {
  return new Map(
    rows.flatMap(([, , idKey, etag, modifiedAt, ttl, json]) => (idKey === null ? [] : [[idKey, { pk, idKey, etag, modifiedAt, ttl, json }] as const])),
  );
}

/** Who holds each claimed value now. The text is needed only where a long id is not its own key (idOf in plan-batch.ts). */
async function holdersOf(session: Session, { compiled, table }: Loaded, pk: string, claims: readonly UniqueClaim[]): Promise<(StoredItem | undefined)[]> {
  const parts = compiled.uniqueKeys.map(({ name }, key) => {
    const column = quote(uniqueColumn(name));
    return `SELECT ${key}, ${column}, id, etag, modified_at, ttl, CASE WHEN octet_length(id) > ${limits.idNativeBytesMax} THEN doc ELSE '' END FROM ${table} WHERE pk = $1 AND ${column} = ANY ($${key + 2}::text[])`;
  });
  const values = compiled.uniqueKeys.map((_, key) => claims.filter((claim) => claim.key === key).map(({ value }) => value));
  const rows = await session.query<[number, string, string, string, number, number | null, string]>(parts.join(" UNION ALL "), [partitionKeyOf(pk), ...values]);
  const holders = new Map(rows.map(([key, value, idKey, etag, modifiedAt, ttl, json]) => [`${key}:${value}`, { pk, idKey, etag, modifiedAt, ttl, json }]));
  return claims.map(({ key, value }) => holders.get(`${key}:${value}`));
}
