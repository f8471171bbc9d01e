/** One attempt at a commit, up to the actions to send: current rows, the plan, unique values, the feed, documents that spill. */
import { forTenant } from "../../items/compiled-container.ts";
import { serviceLimits } from "./service-limits.ts";
import type { CommitOutcome, StoredItem } from "../../items/item-engine.ts";
import {
  planBatch,
  touchedIds,
  type BatchPlan,
  type CommitRequest,
  type PlannedWrite,
  type PreparedOperation,
} from "../../items/plan-batch.ts";
import { settleClaims, uniqueClaims } from "../../items/unique-keys.ts";
import { limits } from "../../domain/limits.ts";
import { withinUtf8Bytes } from "../../domain/json.ts";
import { actionsBytes, requireActions, type Action } from "./actions.ts";
import { keyText, type Attributes, type Dynamo } from "./client.ts";
import type { Definition } from "./definitions.ts";
import { counterKey, feedActions, headOf, shardOf } from "./feed.ts";
import {
  decodeRow,
  encodeRow,
  itemBytes,
  rowKey,
  toStoredItem,
  type BlobRef,
  type PlannedPut,
  type Row,
} from "./rows.ts";
import type { Documents } from "./spill.ts";
import { findHolders, uniqueActions, type Holders } from "./unique-items.ts";

type GoodPlan = Extract<BatchPlan, { ok: true }>;

/** State read before planning. All of it is a condition of the commit. */
export interface Current {
  readonly rows: Map<string, Row>;
  readonly counter: Attributes | undefined;
}

export interface PlannedCommit {
  readonly plan: GoodPlan;
  readonly actions: readonly Action[];
  /** Blobs that this attempt has written, and those that are unreferenced once it succeeds. */
  readonly written: readonly BlobRef[];
  readonly replaced: readonly BlobRef[];
}

/** `again`: the state read is inconsistent, because another writer is active. */
export type Planned = { readonly commit: PlannedCommit } | { readonly outcome: CommitOutcome } | "again";

export class CommitPlanner {
  readonly #dynamo: Dynamo;
  readonly #documents: Documents;

  constructor(dynamo: Dynamo, documents: Documents) {
    this.#dynamo = dynamo;
    this.#documents = documents;
  }

  async read({ table, compiled }: Definition, request: CommitRequest): Promise<Current> {
    const counter = counterKey(request.tenant, shardOf(request.pk));
    const keys = touchedIds(request).map((idKey) => rowKey({ pk: request.pk, idKey }));
    const items = await this.#dynamo.getMany(table, compiled.feed ? [...keys, counter] : keys);
    const rows = new Map<string, Row>();
    for (const key of keys) {
      const item = items.get(keyText(key));
      if (item !== undefined) rows.set(key.sk.slice(1), decodeRow(item));
    }
    return { rows, counter: items.get(keyText(counter)) };
  }

  async plan(definition: Definition, request: CommitRequest, { rows, counter }: Current): Promise<Planned> {
    const { compiled, table } = definition;
    const documents = await this.#withDocuments(table, rows, request.operations);
    if (documents === undefined) return "again";
    const plan = planBatch(compiled, request, documents);
    if (!plan.ok) return { outcome: plan };
    const claims = uniqueClaims(plan.writes);
    const touched = new Map(rows);
    const holders = await findHolders(this.#dynamo, table, compiled, request.pk, claims, rows);
    if (holders === undefined) return "again";
    const holderItems = await this.#holderItems(table, holders, documents, rows);
    if (holderItems === undefined) return "again";
    const settled = settleClaims(forTenant(compiled, request.tenant), plan, claims, holderItems, request.now);
    if (!settled.ok) return (await this.#unchanged(definition, request, touched)) ? { outcome: settled } : "again";
    const fixed = [
      ...this.#checks(request, settled, touched),
      ...uniqueActions(compiled, request.pk, settled.writes, rows, claims, holders),
      ...(compiled.feed
        ? feedActions(headOf(request.tenant, request.pk, counter), request.pk, request.now, settled.changes)
        : []),
    ];
    return this.#withBodies(definition, request.pk, settled, rows, fixed);
  }

  /** A spilled document is fetched only if the plan reads it. Undefined if a row changed meanwhile. */
  async #withDocuments(
    table: string,
    rows: ReadonlyMap<string, Row>,
    operations: readonly PreparedOperation[],
  ): Promise<Map<string, StoredItem> | undefined> {
    const needed = new Set(operations.flatMap((operation) => (looksInside(operation) ? [operation.idKey] : [])));
    const items = new Map<string, StoredItem>();
    for (const [idKey, row] of rows) {
      const json = row.json ?? (needed.has(idKey) ? await this.#json(table, row) : "");
      if (json === undefined) return undefined;
      items.set(idKey, toStoredItem(row, json));
    }
    return items;
  }

  async #holderItems(
    table: string,
    holders: Holders,
    documents: ReadonlyMap<string, StoredItem>,
    rows: ReadonlyMap<string, Row>,
  ): Promise<(StoredItem | undefined)[] | undefined> {
    const items: (StoredItem | undefined)[] = [];
    for (const holder of holders) {
      const row = holder === undefined ? undefined : rows.get(holder);
      const known = holder === undefined ? undefined : documents.get(holder);
      if (row === undefined || known !== undefined) items.push(known);
      else {
        const json = row.json ?? (await this.#json(table, row));
        if (json === undefined) return undefined;
        items.push(toStoredItem(row, json));
      }
    }
    return items;
  }

  async #json(table: string, row: Row): Promise<string | undefined> {
    const loaded = await this.#documents.load(table, row.item);
    return loaded?.stored.etag === row.etag ? loaded.stored.json : undefined;
  }

  /**
   * "In use" is a valid result only if it was true at some moment: rows that are unchanged after the holder was read were unchanged at that
   * moment.
   */
  async #unchanged(
    definition: Definition,
    request: CommitRequest,
    touched: ReadonlyMap<string, Row>,
  ): Promise<boolean> {
    const { rows } = await this.read(definition, request);
    return touchedIds(request).every((idKey) => rows.get(idKey)?.etag === touched.get(idKey)?.etag);
  }

  /** Rows that were examined and stay unchanged: the commit requires that they still are. System operations decide row by row. */
  #checks(request: CommitRequest, { writes }: GoodPlan, touched: ReadonlyMap<string, Row>): Action[] {
    const written = new Set(writes.map(({ idKey }) => idKey));
    const checked = new Set(
      request.operations.flatMap(({ op, idKey }) =>
        op === "remove" || op === "purge" || written.has(idKey) ? [] : [idKey],
      ),
    );
    return [...checked].map((idKey) => ({
      do: "check",
      key: rowKey({ pk: request.pk, idKey }),
      if: sameRow(touched.get(idKey)),
    }));
  }

  async #withBodies(
    definition: Definition,
    pk: string,
    plan: GoodPlan,
    rows: ReadonlyMap<string, Row>,
    fixed: readonly Action[],
  ): Promise<Planned> {
    const puts = plan.writes.flatMap(({ put, operation }) =>
      put === undefined
        ? []
        : [{ put, operation, bytes: itemBytes(encodeRow(definition, pk, put, { json: put.json })) }],
    );
    requireActions(plan.writes.length + fixed.length);
    const spilled = chooseSpills(puts, actionsBytes(fixed) + plan.writes.length * 128);
    const first = puts.find(({ put }) => spilled.has(put.idKey));
    if (first !== undefined && !this.#documents.canSpill)
      return {
        outcome: {
          ok: false,
          failure: { index: first.operation, code: "LIMIT_EXCEEDED", detail: tooLarge(first.bytes) },
        },
      };
    const blobs = new Map<string, BlobRef>();
    for (const { put } of puts) {
      if (spilled.has(put.idKey))
        blobs.set(put.idKey, await this.#documents.spill(definition.compiled.name, { pk, idKey: put.idKey }, put.json));
    }
    const actions = [
      ...plan.writes.map((write) => rowAction(definition, pk, write, rows.get(write.idKey), blobs.get(write.idKey))),
      ...fixed,
    ];
    const replaced = plan.writes.flatMap(({ idKey }) => rows.get(idKey)?.blob ?? []);
    return { commit: { plan, actions, written: [...blobs.values()], replaced } };
  }
}

function rowAction(
  definition: Definition,
  pk: string,
  { idKey, put }: PlannedWrite,
  before: Row | undefined,
  blob: BlobRef | undefined,
): Action {
  if (put === undefined) return { do: "delete", key: rowKey({ pk, idKey }), if: sameRow(before) };
  return {
    do: "put",
    item: encodeRow(definition, pk, put, blob === undefined ? { json: put.json } : { blob }),
    if: sameRow(before),
  };
}

function sameRow(row: Row | undefined): { attribute: string; value: string | undefined } {
  return row === undefined ? { attribute: "pk", value: undefined } : { attribute: "e", value: row.etag };
}

/** Documents too large for an item, and the largest others as long as the whole is too large for a transaction. */
function chooseSpills(puts: readonly { put: PlannedPut; bytes: number }[], otherBytes: number): Set<string> {
  const spilled = new Set<string>();
  let total = otherBytes + puts.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { put, bytes } of puts.toSorted((a, b) => b.bytes - a.bytes)) {
    if (bytes <= serviceLimits.itemInlineBytesMax && total <= serviceLimits.transactionBytesMax) break;
    spilled.add(put.idKey);
    total -= bytes;
  }
  return spilled;
}

function tooLarge(bytes: number): string {
  return bytes > serviceLimits.itemInlineBytesMax
    ? `The document needs an item of ${bytes} bytes; DynamoDB accepts ${serviceLimits.itemBytesMax} (400 KB). Open the item store with \`objects\` to keep larger documents in an object store.`
    : `The batch is larger than the ${serviceLimits.transactionBytesMax} bytes (4 MB) that a transaction of DynamoDB accepts. Split it, or open the item store with \`objects\` to keep large documents in an object store.`;
}

/** System operations need the document only for an id that is longer than its key. */
function looksInside(operation: PreparedOperation): boolean {
  if (operation.op === "remove" || operation.op === "purge")
    return !withinUtf8Bytes(operation.idKey, limits.idNativeBytesMax);
  return operation.op === "patch" || operation.where !== undefined;
}
