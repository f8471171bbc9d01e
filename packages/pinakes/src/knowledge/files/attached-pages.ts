/** Pages over several indexes of one collection in one order, by the time of the upload; a position in it is a time and the id of an item. */
import { compareUtf8 } from "../../domain/json.ts";
import type { Item, ItemStore } from "../../ports/item-store.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import { documentsContainer, type AttachmentRecord, type DocumentRecord } from "../records/records.ts";

export interface Placed {
  readonly at: string;
  /** Of the item. */
  readonly id: string;
}

export interface PageQuery {
  readonly streams: readonly { readonly kind: string; readonly status?: string }[];
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** Exclusive. */
  readonly after?: Placed | undefined;
  readonly before?: Placed | undefined;
  /** Documents for which this is false are left out. */
  readonly sees: (document: DocumentRecord) => boolean;
}

interface Found extends Placed {
  readonly record: DocumentRecord | AttachmentRecord;
}

/** With `before` and without `after`: the last ones in front of it. */
export async function readPage(
  items: ItemStore,
  partition: CollectionPartition,
  query: PageQuery,
): Promise<{ readonly items: readonly Found[]; readonly more: boolean }> {
  const { streams, order, limit, after, before, sees } = query;
  const backwards = before !== undefined && after === undefined;
  const direction = backwards ? (order === "asc" ? "desc" : "asc") : order;
  const read = {
    order: direction,
    limit,
    from: backwards ? before : after,
    until: backwards ? undefined : before,
    sees,
  };
  const found = (await Promise.all(streams.map((stream) => readStream(items, partition, stream, read)))).flat();
  const ordered = found.toSorted((a, b) => (direction === "asc" ? 1 : -1) * comparePlaced(a, b));
  const page = ordered.slice(0, limit);
  return { items: backwards ? page.toReversed() : page, more: ordered.length > limit };
}

/** One more than the limit, where there is one. */
async function readStream(
  items: ItemStore,
  { scope, key }: CollectionPartition,
  stream: PageQuery["streams"][number],
  read: {
    readonly order: "asc" | "desc";
    readonly limit: number;
    readonly from: Placed | undefined;
    readonly until: Placed | undefined;
    readonly sees: PageQuery["sees"];
  },
): Promise<readonly Found[]> {
  const { order, limit, from, until } = read;
  const sign = order === "asc" ? 1 : -1;
  const found: Found[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await items.query(scope, documentsContainer.name, {
      index: stream.status === undefined ? "byUploaded" : "byStatus",
      equals: { incarnation: key.incarnation, ...stream },
      ...(from === undefined ? {} : { range: order === "asc" ? { gte: from.at } : { lte: from.at } }),
      order,
      limit: limit + 1,
      cursor,
    });
    for (const one of page.items.map(placed)) {
      if (from !== undefined && sign * comparePlaced(one, from) <= 0) continue;
      if (until !== undefined && sign * comparePlaced(one, until) >= 0) return found;
      if (one.record.kind === "document" && !read.sees(one.record)) continue;
      found.push(one);
      if (found.length > limit) return found;
    }
    cursor = page.cursor;
    if (cursor === undefined) return found;
  }
}

function placed({ id, document }: Item): Found {
  const { id: _, ...record } = document;
  return { id, at: record["uploaded_at"] as string, record: record as unknown as Found["record"] };
}

function comparePlaced(a: Placed, b: Placed): number {
  return compareUtf8(a.at, b.at) || compareUtf8(a.id, b.id);
}
