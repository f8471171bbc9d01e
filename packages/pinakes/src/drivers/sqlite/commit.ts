/** Commits on the writer's connection: plan on the current rows, then apply. The caller holds the transaction. */
import { forTenant } from "../../items/compiled-container.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { CommitOutcome, StoredItem } from "../../items/item-engine.ts";
import {
  needsDocument,
  planBatch,
  type BatchPlan,
  type CommitRequest,
  type PlannedWrite,
} from "../../items/plan-batch.ts";
import { settleClaims, uniqueClaims } from "../../items/unique-keys.ts";
import { feedName, quoted, tableName, uniqueColumn, type SqliteContainer } from "./schema.ts";

interface Current extends StoredItem {
  readonly row: number;
  /** Index keys and unique values as stored, to skip unchanged ones. */
  readonly keys: readonly unknown[];
}

type Value = string | number | null | Uint8Array;

/** The statements of one container at one version. */
export class ContainerWriter {
  readonly container: SqliteContainer;
  readonly #keyColumns: number;
  readonly #select: StatementSync;
  readonly #selectDocument: StatementSync;
  readonly #insert: StatementSync;
  readonly #updateAll: StatementSync;
  readonly #updateDocument: StatementSync;
  readonly #delete: StatementSync;
  readonly #holders: readonly StatementSync[];
  readonly #feed: StatementSync | undefined;

  constructor(db: DatabaseSync, container: SqliteContainer) {
    const { compiled, indexes } = container;
    const table = tableName(compiled.name);
    const keys = [
      ...compiled.indexes.map(({ name }) => quoted(indexes[name]?.column ?? "")),
      ...compiled.uniqueKeys.map(({ name }) => uniqueColumn(name)),
    ];
    const base = ["etag", "modified_at", "ttl", "own_expiry"];
    const marks = (columns: readonly string[]) => columns.map(() => "?").join(", ");
    const prepare = (sql: string) => {
      const statement = db.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.container = container;
    this.#keyColumns = keys.length;
    // A late column is not read but assumed changed: it is after the document.
    const late = new Set(Object.values(indexes).flatMap((index) => (index.late ? [quoted(index.column)] : [])));
    const found = ["row", "etag", "modified_at", "ttl", ...keys.map((key) => (late.has(key) ? "0" : key))].join(", ");
    this.#select = prepare(`SELECT ${found} FROM ${table} WHERE pk = ? AND id = ?`);
    this.#selectDocument = prepare(`SELECT ${found}, doc FROM ${table} WHERE pk = ? AND id = ?`);
    const inserted = ["pk", "id", ...base, ...keys, "doc"];
    this.#insert = prepare(`INSERT INTO ${table} (${inserted.join(", ")}) VALUES (${marks(inserted)})`);
    this.#updateAll = prepare(
      `UPDATE ${table} SET (${[...base, ...keys, "doc"].join(", ")}) = (${marks([...base, ...keys, "doc"])}) WHERE row = ?`,
    );
    this.#updateDocument = prepare(
      `UPDATE ${table} SET (${[...base, "doc"].join(", ")}) = (${marks([...base, "doc"])}) WHERE row = ?`,
    );
    this.#delete = prepare(`DELETE FROM ${table} WHERE row = ?`);
    this.#holders = compiled.uniqueKeys.map(({ name }) =>
      prepare(`SELECT id FROM ${table} WHERE pk = ? AND ${uniqueColumn(name)} = ?`),
    );
    this.#feed = compiled.feed
      ? prepare(
          `INSERT INTO ${feedName(compiled.name)} (seq, tenant, pk, id_key, id, kind, etag, at, expired) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
      : undefined;
  }

  /** Takes the feed's next numbers from `nextSeq`. */
  commit(request: CommitRequest, nextSeq: () => number): CommitOutcome {
    const current = new Map<string, Current>();
    for (const operation of request.operations) {
      const known = current.get(operation.idKey);
      if (known !== undefined && (known.json !== "" || !needsDocument(operation))) continue;
      const row = this.#find(request.pk, operation.idKey, needsDocument(operation));
      if (row !== undefined) current.set(operation.idKey, row);
    }
    let plan = planBatch(this.container.compiled, request, current);
    if (plan.ok && this.#holders.length > 0) plan = this.#settle(request, plan, current);
    if (!plan.ok) return plan;
    // Deletes come before puts that replace them: a swept holder and its successor may share no unique value even for a moment.
    for (const write of plan.writes) if (write.put === undefined) this.#delete.run(current.get(write.idKey)?.row ?? 0);
    for (const write of plan.writes)
      if (write.put !== undefined) this.#put(request.pk, write, write.put, current.get(write.idKey));
    for (const { kind, idKey, id, etag, at, expired } of this.#feed === undefined ? [] : plan.changes) {
      this.#feed?.run(nextSeq(), request.tenant, request.pk, idKey, id, kind, etag, at, expired ? 1 : 0);
    }
    return { ok: true, results: plan.results };
  }

  #find(pk: string, idKey: string, withDocument: boolean): Current | undefined {
    const found = (withDocument ? this.#selectDocument : this.#select).get(pk, idKey) as unknown as
      | unknown[]
      | undefined;
    if (found === undefined) return undefined;
    const [row, etag, modifiedAt, ttl] = found as [number, string, number, number | null];
    return {
      row,
      pk,
      idKey,
      etag,
      modifiedAt,
      ttl,
      keys: found.slice(4, 4 + this.#keyColumns),
      json: withDocument ? (found.at(-1) as string) : "",
    };
  }

  #settle(request: CommitRequest, plan: Extract<BatchPlan, { ok: true }>, current: Map<string, Current>): BatchPlan {
    const claims = uniqueClaims(plan.writes);
    const holders = claims.map(({ key, value }) => {
      const found = this.#holders[key]?.all(request.pk, value) as unknown as [string][];
      const other = found.find(([idKey]) => !current.has(idKey)) ?? found[0];
      if (other === undefined) return undefined;
      const row = current.get(other[0]) ?? this.#find(request.pk, other[0], true);
      if (row !== undefined) current.set(other[0], row);
      return row;
    });
    return settleClaims(forTenant(this.container.compiled, request.tenant), plan, claims, holders, request.now);
  }

  #put(pk: string, { idKey }: PlannedWrite, put: NonNullable<PlannedWrite["put"]>, before: Current | undefined): void {
    const keys: Value[] = [
      ...put.keys.map((key) => (key === null ? null : Buffer.concat([key.partition, key.sort]))),
      ...put.uniques,
    ];
    const base: Value[] = [
      put.etag,
      put.modifiedAt,
      put.ttl,
      put.ttl !== null && put.ttl > 0 ? put.modifiedAt + put.ttl * 1000 : null,
    ];
    if (before === undefined) this.#insert.run(pk, idKey, ...base, ...keys, put.json);
    else if (keys.every((key, i) => sameValue(key, before.keys[i])))
      this.#updateDocument.run(...base, put.json, before.row);
    else this.#updateAll.run(...base, ...keys, put.json, before.row);
  }
}

function sameValue(a: Value, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}
