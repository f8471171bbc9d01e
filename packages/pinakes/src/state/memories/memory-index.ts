/**
 * The search index: messages as rows of a vector collection of the workspace, updated from the change feed before each search.
 * It only proposes candidates; the messages themselves decide what is returned.
 *
 * A new index, and one that fell behind the retention of the feed, first reads all messages and then follows the
 * feed from its oldest change, so nothing is missed, however late an index of the store is. Its position is stored in
 * `state-settings` after every page: a crash repeats at most one page, which is idempotent.
 *
 * There is one index for keywords only, and one per embedding model, which includes keywords. Each is created by its first search.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { KeyedQueue } from "../../runtime/keyed-queue.ts";
import type { Scope } from "../../domain/scope.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { Embedder } from "../../ports/embedder.ts";
import type { Change, Item, ItemKey, Operation } from "../../ports/item-store.ts";
import { vectorLimits, type UpsertRow } from "../../vectors/index.ts";
import type { StateDependencies } from "../dependencies.ts";
import { settingsContainer } from "../settings.ts";
import { reservedIdPrefix } from "../system-container.ts";
import { memoriesContainer } from "./schema.ts";

const topic = "memory-index";
/** With all deletes of a page it stays below the limit of one read of the vectors. */
const pageItems = 256;
/** Rows that one search indexes at most: keywords take microseconds, embeddings milliseconds each. */
const wordRowsMax = 50_000;
const embeddedRowsMax = 1_024;
const embedTextsMax = 32;
/** Rows for keywords only still need a vector. */
const wordDims = 2;
const wordVector = [1, 0] as const;
/** A page is claimed before it is written, so that a slow process does not overwrite newer rows of a faster one. */
const claimMs = 60_000;
const waitMs = 50;
const waitsMax = 200;

type IndexPhase =
  | { readonly phase: "scan"; readonly cursor?: string }
  | { readonly phase: "sweep" }
  | { readonly phase: "feed"; readonly cursor?: string };

/** As stored in `state-settings`. */
interface Kept {
  readonly place: IndexPhase;
  /** Epoch milliseconds: until then one process works on the next page. */
  readonly claimed_until?: number;
}

interface Step {
  readonly items: readonly Item[];
  /** Rows to remove. */
  readonly gone: readonly string[];
  readonly sweep?: true;
  readonly next?: IndexPhase;
  readonly done?: true;
}

export interface CaughtUp {
  readonly collection: string;
  readonly complete: boolean;
}

export class MemoryIndex {
  readonly #deps: StateDependencies;
  readonly #queue = new KeyedQueue();

  constructor(deps: StateDependencies) {
    this.#deps = deps;
  }

  /** Brings the index of keywords, or of the embedder's model, up to date, as far as one call goes. */
  async catchUp(scope: Scope, embedder: Embedder | undefined): Promise<CaughtUp> {
    const collection = collectionOf(embedder);
    // Callers of one process are serialized: the second finds nothing to do.
    return this.#queue.run([JSON.stringify([scope.tenant, collection])], async () => {
      let rows = embedder === undefined ? wordRowsMax : embeddedRowsMax;
      for (let waits = 0; ;) {
        const known = await this.#known(scope, collection);
        if (known.claimed && (waits += 1) > waitsMax) return { collection, complete: false };
        if (known.claimed) {
          await sleep(waitMs);
          continue;
        }
        const step = await this.#look(scope, known.place);
        if (step.next === undefined) return { collection, complete: true };
        const etag = await this.#keep(
          scope,
          collection,
          { place: known.place, claimed_until: this.#deps.clock.now() + claimMs },
          known.etag,
        );
        if (etag === undefined) continue;
        const written = await this.#perform(scope, collection, embedder, known.place, step);
        await this.#keep(scope, collection, { place: written === undefined ? known.place : step.next }, etag);
        if (written === undefined) return { collection, complete: false };
        if (step.done === true) return { collection, complete: true };
        rows -= written;
        if (rows <= 0) return { collection, complete: false };
      }
    });
  }

  /** The number of rows written; undefined if the vectors accept no more at the moment: the next search tries again. */
  async #perform(
    scope: Scope,
    collection: string,
    embedder: Embedder | undefined,
    place: IndexPhase,
    step: Step,
  ): Promise<number | undefined> {
    try {
      // Idempotent, and repeated at every start, in case an earlier process crashed.
      if (place.phase === "scan" && place.cursor === undefined) await this.#create(scope, collection, embedder);
      const written = await this.#write(scope, collection, embedder, step);
      if (step.sweep === true) await this.#sweep(scope, collection);
      return written;
    } catch (error) {
      if (hasCode(error, "THROTTLED")) return undefined;
      throw error;
    }
  }

  /** The next step; none if `next` is absent. */
  async #look(scope: Scope, place: IndexPhase): Promise<Step> {
    const nothing = { items: [], gone: [] };
    if (place.phase === "sweep") return { ...nothing, sweep: true, next: { phase: "feed" } };
    if (place.phase === "scan") {
      const { items, cursor } = await this.#deps.items.query(scope, memoriesContainer, {
        index: "all",
        equals: { workspace_id: scope.tenant },
        limit: pageItems,
        cursor: place.cursor,
      });
      return { items, gone: [], next: cursor === undefined ? { phase: "sweep" } : { phase: "scan", cursor } };
    }
    const page = await this.#changes(scope, place.cursor);
    if (page === undefined) return { ...nothing, next: { phase: "scan" } };
    if (page.changes.length === 0 && !page.more && place.cursor !== undefined) return nothing;
    const puts = new Map<string, Item>();
    const gone = new Set<string>();
    for (const change of page.changes) sort(change, puts, gone);
    const done = page.more ? {} : { done: true as const };
    return { items: [...puts.values()], gone: [...gone], next: { phase: "feed", cursor: page.cursor }, ...done };
  }

  /** Undefined if the feed no longer reaches back to the cursor. */
  async #changes(scope: Scope, cursor: string | undefined) {
    return tolerate(
      this.#deps.items.changes(
        scope,
        memoriesContainer,
        cursor === undefined ? { limit: pageItems } : { cursor, limit: pageItems },
      ),
      "PRECONDITION_FAILED",
    );
  }

  /** Rows of messages that were deleted while no process followed the feed. */
  async #sweep(scope: Scope, collection: string): Promise<void> {
    let rows: { readonly id: string; readonly metadata: JsonObject }[] = [];
    const check = async (): Promise<void> => {
      const keys = rows.map(({ metadata }) => memoryRowKey(metadata));
      const found = await this.#deps.items.readMany(scope, memoriesContainer, keys);
      const gone = rows.filter((_, i) => found[i] === undefined).map(({ id }) => id);
      rows = [];
      if (gone.length > 0) await this.#deps.vectors.append(scope, collection, { delete: gone });
    };
    for await (const { id, metadata } of this.#deps.vectors.rows(scope, collection)) {
      rows.push({ id, metadata });
      if (rows.length === sweepRows) await check();
    }
    if (rows.length > 0) await check();
  }

  /** Only missing rows: after the initial read, the feed repeats most messages. */
  async #write(
    scope: Scope,
    collection: string,
    embedder: Embedder | undefined,
    { items, gone }: Pick<Step, "items" | "gone">,
  ): Promise<number> {
    const ids = items.map(({ id, document }) => rowId(document["agent_id"] as string, id));
    const there = await this.#deps.vectors.get(scope, collection, [...ids, ...gone]);
    const fresh = items.filter(({ etag }, i) => there[i]?.metadata["etag"] !== etag);
    const removed = gone.filter((_, i) => there[ids.length + i] !== undefined);
    if (fresh.length + removed.length === 0) return 0;
    const vectors = await embedAll(fresh, embedder);
    const upsert = fresh.map((item, i) => rowOf(item, vectors[i] ?? wordVector));
    await this.#deps.vectors.append(scope, collection, { upsert, delete: removed });
    return fresh.length;
  }

  async #create(scope: Scope, collection: string, embedder: Embedder | undefined): Promise<void> {
    const { dims, metric } = embedder?.model ?? { dims: wordDims, metric: "cosine" };
    await this.#deps.vectors.create(scope, collection, { dims, metric });
  }

  async #known(
    scope: Scope,
    collection: string,
  ): Promise<{ readonly place: IndexPhase; readonly etag: string | undefined; readonly claimed: boolean }> {
    const item = await this.#deps.items.read(scope, settingsContainer.name, { partition: [topic], id: collection });
    if (item === undefined) return { place: { phase: "scan" }, etag: undefined, claimed: false };
    const { place, claimed_until = 0 } = item.document as unknown as Kept;
    return { place, etag: item.etag, claimed: claimed_until > this.#deps.clock.now() };
  }

  /** The new etag; undefined if another process was faster: then its position counts. */
  async #keep(scope: Scope, collection: string, kept: Kept, etag: string | undefined): Promise<string | undefined> {
    const document = { id: collection, topic, ...(kept as unknown as JsonObject) };
    const operation: Operation =
      etag === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: etag };
    try {
      return (await this.#deps.items.write(scope, settingsContainer.name, [topic], operation)).etag;
    } catch (error) {
      if (hasCode(error, "CONFLICT", "PRECONDITION_FAILED")) return undefined;
      throw error;
    }
  }
}

const sweepRows = 100;

/** Of the names of all indexes. */
export const memoryIndexPrefix = "state-memories-";

/** The message of a row. */
export function memoryRowKey(metadata: JsonObject): ItemKey {
  return { partition: [metadata["agent_id"] as string], id: metadata["message_id"] as string };
}

function collectionOf(embedder: Embedder | undefined): string {
  if (embedder === undefined) return `${memoryIndexPrefix}words`;
  const { id, dims, metric } = embedder.model;
  return `${memoryIndexPrefix}${createHash("sha256")
    .update(JSON.stringify([id, dims, metric]))
    .digest("hex")
    .slice(0, 16)}`;
}

/** The last change of each message counts. A change without its document was superseded by a later one in the feed. */
function sort(change: Change, puts: Map<string, Item>, gone: Set<string>): void {
  const { partition, id, kind, etag, at, document } = change;
  if (id.startsWith(reservedIdPrefix)) return;
  const row = rowId(partition[0] as string, id);
  if (kind === "delete") {
    puts.delete(row);
    gone.add(row);
  } else if (document !== undefined) {
    puts.set(row, { id, etag, modifiedAt: at, document });
    gone.delete(row);
  }
}

async function embedAll(items: readonly Item[], embedder: Embedder | undefined): Promise<readonly Float32Array[]> {
  const vectors: Float32Array[] = [];
  if (embedder === undefined) return vectors;
  for (let at = 0; at < items.length; at += embedTextsMax) {
    const texts = items.slice(at, at + embedTextsMax).map(textOf);
    vectors.push(...(await embedder.embed(texts, { kind: "document" })));
  }
  return vectors;
}

function rowOf(item: Item, vector: Float32Array | readonly number[]): UpsertRow {
  const { agent_id, session_id } = item.document as { agent_id: string; session_id: string };
  return {
    id: rowId(agent_id, item.id),
    vector,
    text: textOf(item),
    metadata: { agent_id, session_id, message_id: item.id, etag: item.etag },
  };
}

/** Truncated to the row limit. */
function textOf({ document }: Item): string {
  const content = document["content"] as string;
  const bytes = Buffer.from(content, "utf8");
  return bytes.length <= vectorLimits.rowTextBytesMax
    ? content
    : bytes.toString("utf8", 0, vectorLimits.rowTextBytesMax).replace(/\uFFFD+$/u, "");
}

/** Ids of messages and agents may be longer than a row's id. */
function rowId(agentId: string, id: string): string {
  return createHash("sha256")
    .update(JSON.stringify([agentId, id]))
    .digest("base64url");
}
