/**
 * The store id (RFC 0016): items, triples and objects that belong together carry the same id, so that items are never used with the objects
 * of another store. It is written at the first open and compared at every open, by `pinakes doctor` and by `/readyz`.
 *
 * Invariants: the id in the items decides, and is created once (create-if-absent; the loser of a race adopts the winner's). A store that
 * the items are bound to and that has no id was emptied or replaced: it is rejected, never silently bound again. Stores that do not outlive
 * the process have no id and are bound to nothing.
 */
import { randomUUID } from "node:crypto";
import { describeItems, describeObjects, type StoresConfig } from "./config-stores.ts";
import { hasCode, PinakesError } from "./domain/errors.ts";
import { isJsonObject, type JsonObject } from "./domain/json.ts";
import { defaultGraph, iri, literal, termOf, type Quad } from "./domain/rdf.ts";
import type { SystemScope } from "./domain/scope.ts";
import type { ItemStore } from "./ports/item-store.ts";
import type { ObjectStore } from "./ports/object-store.ts";
import type { TripleStore } from "./ports/triple-store.ts";

/** The container that probes whether the items answer; it contains the store's record. */
export const probe = { name: "pinakes-probe", partitionKey: ["probe"] } as const;
/** A name that no caller can have. */
const storeTenant = "pinakes.store";
const recordKey = { partition: ["store"], id: "store" } as const;
const markKey = "pinakes/store.json";
const space = "store";
const subject = iri("urn:pinakes:store");
const predicate = iri("urn:pinakes:store-id");
const formatVersion = 1;
const marksMax = 10;

interface StoreRecord {
  readonly format: number;
  readonly store_id: string;
  readonly created_at: number;
  /** Which other stores got the id. */
  readonly objects: boolean;
  readonly triples: boolean;
}

export interface BoundStores {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly triples: TripleStore;
  readonly system: SystemScope;
  readonly config: Pick<StoresConfig, "items" | "objects">;
  readonly now: () => number;
}

/** What each store carries; undefined if it has no id. */
export interface StoreIds {
  readonly items: string | undefined;
  readonly objects: string | undefined;
  /** Several only if files of different stores were mixed. */
  readonly triples: readonly string[];
}

export class Binding {
  readonly #stores: BoundStores;
  /** As it was when the stores were opened. */
  #record: StoreRecord | undefined;

  constructor(stores: BoundStores) {
    this.#stores = stores;
  }

  /** Creates what is missing and compares the rest. The items' probe container is open. */
  async bind(): Promise<void> {
    const { items, objects, triples } = this.#stores;
    if (!items.capabilities.durable) {
      // Another store's objects would be removed as unreferenced.
      const held = await this.#readMark();
      if (held !== undefined) throw this.#foreign("objects", "are in memory", held);
      return;
    }
    const record = await this.#ensureRecord();
    if (objects.capabilities.durable && !record.objects) await this.#markObjects(record);
    if (triples.capabilities.durable && !record.triples) await this.#markTriples(record);
    this.#record = await this.#noteBound(record);
    await this.checkObjects();
    await this.checkTriples();
  }

  /** Undefined where the items do not outlive the process. */
  get storeId(): string | undefined {
    return this.#record?.store_id;
  }

  /** Whether objects may have been written: the items were bound to an object store before. */
  async hasObjects(): Promise<boolean> {
    return (await this.#readRecord())?.objects === true;
  }

  async checkItems(): Promise<void> {
    const now = await this.#readRecord();
    const wanted = this.#record?.store_id;
    if (now?.store_id === wanted) return;
    const is = now === undefined ? "have no store id any more" : `belong to store ${now.store_id} now`;
    throw conflict(
      `The items ${is}; this process was started with store ${wanted}. The database was emptied or replaced: restart this process.`,
    );
  }

  async checkObjects(): Promise<void> {
    const { objects, system } = this.#stores;
    const record = this.#record;
    if (record?.objects !== true) return void (await objects.list(system, "", { limit: 1 }));
    const held = await this.#readMark();
    if (held !== record.store_id) throw this.#foreign("objects", `belong to store ${record.store_id}`, held);
  }

  async checkTriples(): Promise<void> {
    const held = await this.#readTriples();
    const record = this.#record;
    if (record?.triples !== true) return;
    const other = held.find((id) => id !== record.store_id);
    if (held.length === 0 || other !== undefined)
      throw this.#foreign("triples", `belong to store ${record.store_id}`, other);
  }

  async ids(): Promise<StoreIds> {
    return {
      items: (await this.#readRecord())?.store_id,
      objects: await this.#readMark(),
      triples: await this.#readTriples(),
    };
  }

  /** On request: objects and triples get the id of the items, whatever they had. */
  async force(): Promise<StoreIds> {
    const { objects, triples, system } = this.#stores;
    const record = (await this.#readRecord()) ?? (await this.#create());
    if (objects.capabilities.durable) await objects.put(system, markKey, markOf(record));
    await this.#forgetTriples([record.store_id]);
    if (triples.capabilities.durable) await this.#markTriples(record);
    this.#record = await this.#noteBound(record);
    return this.ids();
  }

  /** Before a whole store is copied over this one, which brings its own id. */
  async makeWayFor(source: Binding): Promise<void> {
    await this.#forgetTriples(await source.#readTriples());
  }

  async #forgetTriples(kept: readonly string[] = []): Promise<void> {
    const held = (await this.#readTriples()).filter((id) => !kept.includes(id));
    if (held.length > 0) await this.#stores.triples.write(this.#scope, space, { remove: held.map(quadOf) });
  }

  get #scope() {
    return this.#stores.system.forTenant(storeTenant);
  }

  async #ensureRecord(): Promise<StoreRecord> {
    const known = await this.#readRecord();
    if (known !== undefined) return known;
    // New items with objects that have an id: nothing is written, so that the right items can still be used with them.
    const held = await this.#readMark();
    if (held === undefined) return this.#create();
    const made = await this.#readRecord();
    if (made === undefined) throw this.#foreign("objects", "have no store id yet", held);
    return made;
  }

  async #create(): Promise<StoreRecord> {
    const record: StoreRecord = {
      format: formatVersion,
      store_id: randomUUID(),
      created_at: this.#stores.now(),
      objects: false,
      triples: false,
    };
    const document = { id: recordKey.id, probe: recordKey.partition[0], ...(record as unknown as JsonObject) };
    try {
      await this.#stores.items.write(this.#scope, probe.name, recordKey.partition, { op: "create", document });
      return record;
    } catch (error) {
      const winner = hasCode(error, "CONFLICT") ? await this.#readRecord() : undefined;
      if (winner === undefined) throw error;
      return winner;
    }
  }

  async #markObjects(record: StoreRecord): Promise<void> {
    const { objects, system } = this.#stores;
    if ((await this.#readMark()) !== undefined) return;
    try {
      await objects.put(system, markKey, markOf(record), objects.capabilities.conditionalPut ? { ifAbsent: true } : {});
    } catch (error) {
      // Another process was first; its id is compared next.
      if (!hasCode(error, "CONFLICT")) throw error;
    }
  }

  async #markTriples(record: StoreRecord): Promise<void> {
    const { triples } = this.#stores;
    if ((await this.#readTriples()).length > 0) return;
    await triples.open(this.#scope, space);
    await triples.write(this.#scope, space, { insert: [quadOf(record.store_id)] });
  }

  /** Only after the others have the id: a store that the record calls bound and that has none was emptied. */
  async #noteBound(record: StoreRecord): Promise<StoreRecord> {
    const { items, objects, triples } = this.#stores;
    const next = {
      ...record,
      objects: record.objects || objects.capabilities.durable,
      triples: record.triples || triples.capabilities.durable,
    };
    if (next.objects === record.objects && next.triples === record.triples) return record;
    if (next.objects && !record.objects && (await this.#readMark()) !== record.store_id)
      throw this.#foreign("objects", `belong to store ${record.store_id}`, await this.#readMark());
    const set = (path: string, value: boolean) => ({ op: "set" as const, path, value });
    const patch = [set("/objects", next.objects), set("/triples", next.triples)];
    await items.write(this.#scope, probe.name, recordKey.partition, { op: "patch", id: recordKey.id, patch });
    return next;
  }

  async #readRecord(): Promise<StoreRecord | undefined> {
    const item = await this.#stores.items.read(this.#scope, probe.name, recordKey);
    return item === undefined ? undefined : readRecord(item.document);
  }

  async #readMark(): Promise<string | undefined> {
    const { objects, system } = this.#stores;
    const bytes = await objects.get(system, markKey);
    return bytes === undefined ? undefined : readMark(bytes);
  }

  async #readTriples(): Promise<readonly string[]> {
    const { quads } = await this.#stores.triples.match(
      this.#scope,
      space,
      { s: subject, p: predicate },
      { limit: marksMax },
    );
    return quads.map(({ o }) => termOf(o).value);
  }

  #foreign(what: "objects" | "triples", ours: string, held: string | undefined): PinakesError {
    const { config } = this.#stores;
    const items = describeItems(config.items).replaceAll(/\s+/g, " ");
    const place = what === "objects" ? describeObjects(config.objects).replaceAll(/\s+/g, " ") : items;
    const theirs =
      held === undefined ? "has no store id (it was emptied, moved away, or is a new one)" : `belongs to store ${held}`;
    const setting = what === "objects" ? "PINAKES_OBJECTS (option objects)" : "PINAKES_ITEMS (option items)";
    return conflict(
      `The ${what} at ${place} do not belong to the items at ${items}: the items ${ours}, and the ${what === "objects" ? "object" : "triple"} store ${theirs}. ` +
        `Set ${setting} to the location that this store was used with, or restore that location from a backup. ` +
        `If they are meant to be used together, confirm it with: pinakes stores bind`,
    );
  }
}

function conflict(detail: string): PinakesError {
  return new PinakesError("CONFLICT", detail);
}

function quadOf(id: string): Quad {
  return { s: subject, p: predicate, o: literal(id), g: defaultGraph };
}

function markOf({ format, store_id, created_at }: StoreRecord): Uint8Array {
  return Buffer.from(`${JSON.stringify({ format, store_id, created_at })}\n`, "utf8");
}

function readMark(bytes: Uint8Array): string {
  let mark: unknown;
  try {
    mark = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    throw new PinakesError("CORRUPT", `The object ${markKey}, which contains the store id, cannot be read.`, {
      cause: error,
    });
  }
  return requireId(mark);
}

function readRecord(document: JsonObject): StoreRecord {
  const { format, created_at, objects, triples } = document;
  const store_id = requireId(document);
  return {
    format: format as number,
    store_id,
    created_at: created_at as number,
    objects: objects === true,
    triples: triples === true,
  };
}

function requireId(value: unknown): string {
  const { format, store_id } = isJsonObject(value) ? value : {};
  if (typeof format === "number" && format > formatVersion)
    throw new PinakesError(
      "NOT_SUPPORTED",
      `The store was written by a later version of Pinakes (its id has format ${format}); use that version.`,
    );
  if (typeof store_id === "string" && /^[0-9a-f-]{36}$/.test(store_id)) return store_id;
  throw new PinakesError("CORRUPT", "The record that contains the store id cannot be read.");
}
