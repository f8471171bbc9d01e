/**
 * Lists of collections by tags, last use or size, which no index covers. Candidates are collected first (from the tag rows if tags are
 * given), then read, sorted and cut. Each page repeats this; its cursor is the sort position of its last item, sealed for one caller and
 * one query.
 */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { compileFilter } from "../../domain/filter.ts";
import { compareUtf8 } from "../../domain/json.ts";
import type { Item } from "../../ports/item-store.ts";
import { SealedCursors } from "../records/sealed-cursors.ts";
import { knowledgeLimits } from "../limits.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { visibleStats } from "../access/visible-stats.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import { everyPage } from "../../containers/every-item.ts";
import { pagesOf } from "../../runtime/pages.ts";
import {
  checkLimit,
  filterOf,
  listCollections,
  orderOf,
  planOf,
  visibleAmong,
  type CollectionPage,
  type CollectionQuery,
} from "./list-collections.ts";
import { isTag } from "../records/names.ts";
import {
  collectionsContainer,
  documentsContainer,
  itemIds,
  type CollectionRecord,
  type StatsRecord,
} from "../records/records.ts";
import { requireTagRows } from "../records/tag-rows-before.ts";
import { TagRows, type TagRow } from "../records/tag-rows.ts";
import { isoTime } from "../records/times.ts";

/** Maximum number of collections read for one list. */
export const gatheredCollectionsMax = 10_000;

interface Positioned {
  readonly opened: OpenCollection;
  readonly position: readonly [value: string | number, repository: string, incarnation: string];
}

export class CollectionLists {
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;
  readonly #cursors: SealedCursors;
  readonly #rows: TagRows;

  constructor(deps: KnowledgeDependencies, catalog: CatalogRecords) {
    this.#deps = deps;
    this.#catalog = catalog;
    this.#cursors = new SealedCursors(deps);
    this.#rows = new TagRows(deps.items);
  }

  async list(caller: Caller, query: CollectionQuery): Promise<CollectionPage> {
    const scope = requireCaller(caller);
    const tags = tagsOf(query);
    const limit = checkLimit(query.limit);
    const { cursor, limit: _, session: __, ...filter } = query;
    const question = [caller.userId, JSON.stringify(filter)];
    const from = cursor === undefined ? undefined : await this.#cursors.open(scope, question, cursor);
    if (tags.length === 0 && !isRanked(query)) {
      // This position is a cursor of the index; it is sealed for the caller and the query like the others.
      const found = await listCollections(this.#deps.items, this.#catalog, caller, {
        ...query,
        cursor: from as string | undefined,
      });
      return {
        items: found.items,
        ...(found.cursor === undefined ? {} : { cursor: await this.#cursors.seal(scope, question, found.cursor) }),
      };
    }
    const after = from as unknown as Positioned["position"] | undefined;
    const descending = orderOf(query) === "desc";
    const compare = (a: Positioned["position"], b: Positioned["position"]): number =>
      (descending ? -1 : 1) * comparePositions(a, b);
    const all = await this.#placed(caller, query, tags);
    const rest = all
      .filter(({ position }) => after === undefined || compare(position, after) > 0)
      .toSorted((a, b) => compare(a.position, b.position));
    const page = rest.slice(0, limit);
    const last = rest.length > limit ? page.at(-1)?.position : undefined;
    const items = page.map(({ opened }) => opened);
    return { items, ...(last === undefined ? {} : { cursor: await this.#cursors.seal(scope, question, last) }) };
  }

  async count(caller: Caller, query: CollectionQuery): Promise<number> {
    let count = 0;
    for await (const page of pagesOf((cursor) =>
      this.list(caller, { ...query, limit: knowledgeLimits.pageItemsMax, cursor }),
    )) {
      count += page.items.length;
    }
    return count;
  }

  async #placed(caller: Caller, query: CollectionQuery, tags: readonly string[]): Promise<readonly Positioned[]> {
    const items = tags.length === 0 ? await this.#walked(caller, query) : await this.#tagged(caller, query, tags);
    const opened = await visibleAmong(this.#catalog, caller, items);
    const stats = isRanked(query) ? await this.#stats(caller, opened) : [];
    const since = query.unused_since === undefined ? "9" : isoTime(Date.parse(query.unused_since));
    return opened.flatMap((one, i): readonly Positioned[] => {
      const { collection } = one;
      const size = stats[i]?.total_size_bytes ?? 0;
      // A collection that was never used counts as used when it was created.
      const used = stats[i]?.last_used_at ?? collection.created_at;
      if (used >= since || size < (query.min_size_bytes ?? 0) || size > (query.max_size_bytes ?? Infinity)) return [];
      const values = {
        created_at: collection.created_at,
        updated_at: collection.updated_at,
        name: collection.sort_name,
        last_used_at: used,
        size,
      };
      return [
        {
          opened: one,
          position: [values[query.sort ?? "created_at"], collection.repository_id, collection.incarnation],
        },
      ];
    });
  }

  async #walked(caller: Caller, query: CollectionQuery): Promise<readonly Item[]> {
    const plan = planOf({ ...query, sort: "created_at" });
    const found: Item[] = [];
    for await (const page of everyPage(this.#deps.items, caller.scope, collectionsContainer.name, {
      ...plan,
      limit: 500,
    })) {
      found.push(...page.items);
      requireFew(found.length);
    }
    return found;
  }

  /** Candidates come from the tag rows; the records decide. */
  async #tagged(caller: Caller, query: CollectionQuery, tags: readonly string[]): Promise<readonly Item[]> {
    await requireTagRows(this.#deps, caller.scope);
    const rows = new Map<string, TagRow>();
    // A collection that has all tags has the first one.
    for (const tag of query.tag_match === "any" ? tags : tags.slice(0, 1)) {
      // No collection has an invalid tag.
      if (!isTag(tag)) continue;
      for await (const page of this.#rows.having(caller.scope, tag, query.repositoryId, query.session)) {
        for (const row of page) rows.set(row.incarnation, row);
        requireFew(rows.size);
      }
    }
    const fits = compileFilter(filterOf(query));
    const has = ({ metadata }: CollectionRecord): boolean =>
      tags[query.tag_match === "any" ? "some" : "every"]((tag) => metadata.tags.includes(tag));
    return (await this.#records(caller, [...rows.values()])).filter(
      ({ document }) => fits(document) && has(document as unknown as CollectionRecord),
    );
  }

  async #records(caller: Caller, rows: readonly TagRow[]): Promise<readonly Item[]> {
    const found: Item[] = [];
    for (let at = 0; at < rows.length; at += 50) {
      const some = rows.slice(at, at + 50);
      const keys = some.flatMap(({ repository_id, collection_id, incarnation }) => [
        { partition: [repository_id], id: itemIds.collection(collection_id) },
        { partition: [repository_id], id: itemIds.displaced(collection_id, incarnation) },
      ]);
      const records = await this.#deps.items.readMany(caller.scope, collectionsContainer.name, keys);
      for (const [i, { incarnation }] of some.entries())
        for (const item of records.slice(i * 2, i * 2 + 2))
          if (item?.document["incarnation"] === incarnation) found.push(item);
    }
    return found;
  }

  async #stats(caller: Caller, opened: readonly OpenCollection[]): Promise<readonly (StatsRecord | undefined)[]> {
    const found: (StatsRecord | undefined)[] = [];
    for (let at = 0; at < opened.length; at += 100) {
      const some = opened.slice(at, at + 100);
      const keys = some.map(({ collection: { repository_id, incarnation } }) => ({
        partition: [repository_id, incarnation],
        id: itemIds.stats,
      }));
      const items = await this.#deps.items.readMany(caller.scope, documentsContainer.name, keys);
      for (const [i, one] of some.entries()) {
        const all = items[i]?.document as unknown as StatsRecord | undefined;
        // Only of what the caller may see: sizes order and select collections.
        found.push(one.collection.restricted === true ? (await visibleStats(this.#deps, caller, one))?.record : all);
      }
    }
    return found;
  }
}

/** The requested tags, deduplicated. */
function tagsOf({ tag, tags = [], tag_match }: CollectionQuery): readonly string[] {
  if (tag_match !== undefined && tag_match !== "any" && tag_match !== "all")
    throw invalid(`tag_match: must be any or all, got ${show(tag_match)}.`);
  const all = [...new Set([...(tag === undefined ? [] : [tag]), ...tags])];
  if (all.length > knowledgeLimits.tagsMax) throw invalid(`tags: at most ${knowledgeLimits.tagsMax} per query.`);
  return all;
}

/** Whether the counters of each collection are needed. */
function isRanked(query: CollectionQuery): boolean {
  const { sort, unused_since, min_size_bytes, max_size_bytes } = query;
  if (unused_since !== undefined && !(Date.parse(unused_since) >= 0))
    throw invalid(`unused_since: must be a time in UTC such as 2030-01-01T00:00:00.000Z, got ${show(unused_since)}.`);
  for (const [name, bytes] of Object.entries({ min_size_bytes, max_size_bytes }))
    if (bytes !== undefined && !(Number.isInteger(bytes) && bytes >= 0))
      throw invalid(`${name}: must be a whole number from 0, got ${show(bytes)}.`);
  return (
    sort === "last_used_at" ||
    sort === "size" ||
    unused_since !== undefined ||
    min_size_bytes !== undefined ||
    max_size_bytes !== undefined
  );
}

function comparePositions(a: Positioned["position"], b: Positioned["position"]): number {
  const [first, second] = [a[0], b[0]];
  const order =
    typeof first === "number" && typeof second === "number"
      ? first - second
      : compareUtf8(String(first), String(second));
  return order !== 0 ? order : compareUtf8(a[1], b[1]) || compareUtf8(a[2], b[2]);
}

function requireFew(count: number): void {
  if (count <= gatheredCollectionsMax) return;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `More than ${gatheredCollectionsMax} collections would have to be sorted. Name a repository or a tag, or sort by created_at, updated_at or name.`,
  );
}
