/**
 * The documents of a collection that a caller may not see (RFC 0014).
 *
 * Every call reads the collection's count of access changes from its partition, with a strong read, and takes known rows only where the
 * count of their bucket is the same. So a change of a document's access, or of the caller's groups, decides the next call, whichever process
 * made it. A collection without restricted documents costs nothing: its record says so.
 *
 * The same set is the same object, as long as nothing changes: bitmaps of the vector store are cached by it.
 */
import type { Caller } from "../../domain/caller.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { HiddenRows } from "../../vectors/index.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { RestrictedRecord } from "../records/records.ts";
import { bucketOf } from "../records/restricted-rows.ts";
import type { Decision } from "./access.ts";
import { seesDocument } from "./document-access.ts";
import type { OpenCollection } from "./open-collection.ts";

/** Ids of documents, as the rows of their chunks name them; never empty. */
export type HiddenDocuments = HiddenRows;

/** Collections, and rows of all of them, that a process knows. */
const collectionsMax = 500;
const rowsMax = 1_000_000;
/** Callers of one state of a collection. */
const callersMax = 1_000;
const setsMax = 32;
/** More changed buckets than this are read together with all others. */
const bucketsPerReadMax = 16;

/** The restricted documents in one state. */
interface State {
  readonly changes: Readonly<Record<string, number>>;
  readonly buckets: ReadonlyMap<string, readonly RestrictedRecord[]>;
  readonly rows: number;
  /** Documents of the same access and uploader: one decision for all. */
  readonly classes: readonly AccessClass[];
  readonly byCaller: Map<string, HiddenDocuments | undefined>;
  readonly bySet: Map<string, HiddenDocuments>;
}

interface AccessClass {
  readonly sample: RestrictedRecord;
  readonly ids: readonly string[];
}

type Opened = Pick<OpenCollection, "collection" | "decision">;

class HiddenIndex {
  readonly #items: ItemStore;
  readonly #states = new Map<string, State>();
  #rows = 0;

  constructor(items: ItemStore) {
    this.#items = items;
  }

  async of(caller: Caller, { collection, decision }: Opened): Promise<HiddenDocuments | undefined> {
    const partition = new CollectionPartition(this.#items, caller.scope, collection);
    return hiddenIn(await this.#state(caller.scope, partition), caller, decision);
  }

  async #state(scope: Scope, partition: CollectionPartition): Promise<State> {
    const key = JSON.stringify([scope.tenant, partition.key.incarnation]);
    const changes = (await partition.accessChanges())?.record.changes ?? {};
    const known = this.#states.get(key);
    const changed = Object.keys(changes).filter((bucket) => changes[bucket] !== known?.changes[bucket]);
    if (known !== undefined && changed.length === 0) {
      this.#keep(key, known);
      return known;
    }
    // Rows are read after the counts: they are of this state, or of a later one, whose counts differ.
    const buckets = await readBuckets(partition, known, changed);
    const state = stateOf(changes, buckets);
    this.#keep(key, state);
    return state;
  }

  /** The last one used is the last to go. */
  #keep(key: string, state: State): void {
    this.#rows += state.rows - (this.#states.get(key)?.rows ?? 0);
    this.#states.delete(key);
    this.#states.set(key, state);
    for (const [oldest, { rows }] of this.#states) {
      if (oldest === key || (this.#states.size <= collectionsMax && this.#rows <= rowsMax)) return;
      this.#states.delete(oldest);
      this.#rows -= rows;
    }
  }
}

async function readBuckets(
  partition: CollectionPartition,
  known: State | undefined,
  changed: readonly string[],
): Promise<ReadonlyMap<string, readonly RestrictedRecord[]>> {
  if (known === undefined || changed.length > bucketsPerReadMax) {
    const rows = await partition.restricted();
    return Map.groupBy(rows, ({ document_id }) => bucketOf(document_id));
  }
  const buckets = new Map(known.buckets);
  const read = await Promise.all(changed.map((bucket) => partition.restricted(bucket)));
  for (const [i, bucket] of changed.entries()) buckets.set(bucket, read[i] ?? []);
  return buckets;
}

function stateOf(changes: State["changes"], buckets: State["buckets"]): State {
  const all = [...buckets.values()].flat();
  const classes = [
    ...Map.groupBy(all, ({ access, uploaded_by }) =>
      JSON.stringify([access.allowed_groups, access.allowed_users, access.sensitivity, uploaded_by]),
    ).values(),
  ].map((rows): AccessClass => ({
    sample: rows[0] as RestrictedRecord,
    ids: rows.map(({ document_id }) => document_id),
  }));
  return { changes, buckets, rows: all.length, classes, byCaller: new Map(), bySet: new Map() };
}

/** The decision depends on nothing but the state and this part of the caller. */
function hiddenIn(state: State, caller: Caller, decision: Decision): HiddenDocuments | undefined {
  const key = JSON.stringify([caller.userId, decision.level, caller.groups]);
  if (state.byCaller.has(key)) return state.byCaller.get(key);
  const numbers = state.classes.flatMap(({ sample }, i) => (seesDocument(caller, decision, sample) ? [] : [i]));
  const hidden = numbers.length === 0 ? undefined : setOf(state, numbers);
  bounded(state.byCaller, callersMax).set(key, hidden);
  return hidden;
}

function setOf(state: State, numbers: readonly number[]): HiddenDocuments {
  const name = numbers.join();
  let hidden = state.bySet.get(name);
  if (hidden === undefined) {
    const values = new Set(numbers.flatMap((number) => state.classes[number]?.ids ?? []));
    hidden = { field: "document_id", values };
    bounded(state.bySet, setsMax).set(name, hidden);
  }
  return hidden;
}

function bounded<Value>(map: Map<string, Value>, max: number): Map<string, Value> {
  if (map.size >= max) map.delete(map.keys().next().value as string);
  return map;
}

const indexes = new WeakMap<ItemStore, HiddenIndex>();

/** Undefined if the caller sees every document. */
export async function hiddenDocuments(
  { items }: { readonly items: ItemStore },
  caller: Caller,
  opened: Opened,
): Promise<HiddenDocuments | undefined> {
  if (opened.collection.restricted !== true || opened.decision.level === "ADMIN") return undefined;
  let index = indexes.get(items);
  if (index === undefined) indexes.set(items, (index = new HiddenIndex(items)));
  return index.of(caller, opened);
}
