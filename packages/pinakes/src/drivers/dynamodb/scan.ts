/**
 * Scans and counts of one partition (strongly consistent) and of an index.
 *
 * An index of DynamoDB is late: it may still show an item under an old key, or one that is gone. So an index only proposes rows: every row
 * is read from the table itself, and counts only if its current key in the index is exactly that one. What a scan returns is therefore
 * always current; a row may be missing for the moment in which the index catches up.
 */
import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { compareUtf8, withinUtf8Bytes } from "../../domain/json.ts";
import { isExpired } from "../../domain/ttl.ts";
import type { CompiledContainer } from "../../items/compiled-container.ts";
import type { ScanRange, ScanRequest, ScanResult, ScanRow } from "../../items/item-engine.ts";
import { keyOf, keyText, type Attributes, type Dynamo } from "./client.ts";
import type { Definition } from "./definitions.ts";
import type { IndexInTable } from "./index-state.ts";
import { ageOf, partitionKeyOf } from "./rows.ts";
import { serviceLimits } from "./service-limits.ts";
import type { Documents } from "./spill.ts";

type PartitionRange = Extract<ScanRange, { kind: "partition" }>;
type IndexRange = Extract<ScanRange, { kind: "index" }>;

/** Items of a scan in order, with their keys in the index. */
interface Candidate {
  readonly item: Attributes;
  readonly sortKey?: string;
}

/** All ids sort below it: they never contain U+10FFFF. */
const afterIds = "i\u{10ffff}";
/** Longer bounds are truncated: no key is as long, so the truncated text sorts the same among them. */
const boundBytesMax = 1_000;

export class Scanner {
  readonly #dynamo: Dynamo;
  readonly #documents: Documents;

  constructor(dynamo: Dynamo, documents: Documents) {
    this.#dynamo = dynamo;
    this.#documents = documents;
  }

  async partition(definition: Definition, range: PartitionRange, request: ScanRequest): Promise<ScanResult> {
    const query = partitionQuery(definition, range);
    if (query === undefined) return { rows: [], done: true };
    return this.#collect(
      definition,
      request,
      this.#pages({ ...query, ScanIndexForward: !request.reverse }, request.limit),
      () => true,
    );
  }

  async index(
    definition: Definition,
    index: IndexInTable,
    range: IndexRange,
    request: ScanRequest,
  ): Promise<ScanResult> {
    const query = indexQuery(definition, index, range);
    if (query === undefined) return { rows: [], done: true };
    const keys = this.#pages({ ...query, ScanIndexForward: !request.reverse }, request.limit);
    return this.#collect(
      definition,
      request,
      this.#verified(definition, index, range, keys),
      ({ sortKey }, item) => sortKeyOf(index, item) === sortKey,
    );
  }

  /** The service counts; its filter leaves out expired items, by the rules of domain/ttl.ts. */
  async countPartition(definition: Definition, range: PartitionRange, now: number): Promise<number> {
    const query = partitionQuery(definition, range);
    if (query === undefined) return 0;
    const filter = visibleFilter(definition.compiled, now);
    let count = 0;
    for (let start: Attributes | undefined, first = true; first || start !== undefined; first = false) {
      const page = await this.#dynamo.query({
        ...query,
        Select: "COUNT",
        ...(filter === undefined
          ? {}
          : {
              ...filter,
              ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ...filter.ExpressionAttributeValues },
            }),
        ExclusiveStartKey: start,
      });
      count += page.Count ?? 0;
      start = page.LastEvaluatedKey;
    }
    return count;
  }

  async countIndex(definition: Definition, index: IndexInTable, range: IndexRange, now: number): Promise<number> {
    const query = indexQuery(definition, index, range);
    if (query === undefined) return 0;
    let count = 0;
    const keys = this.#pages(query, serviceLimits.batchGetKeysMax);
    for await (const candidates of this.#verified(definition, index, range, keys, [
      "m",
      "t",
      index.partition,
      index.sort,
    ])) {
      count += candidates.filter(({ item }) => visible(definition.compiled, item, now)).length;
    }
    return count;
  }

  /** Pages of a query until its end. One row more than requested tells whether the range continues. */
  async *#pages(query: QueryCommandInput, wanted: number): AsyncGenerator<readonly Candidate[]> {
    let start: Attributes | undefined;
    let limit = wanted + 1;
    do {
      const page = await this.#dynamo.query({
        ...query,
        Limit: limit,
        ExclusiveStartKey: start,
      });
      yield (page.Items ?? []).map((item) => ({ item }));
      start = page.LastEvaluatedKey;
      // There are expired rows among them: a small page must not become a crawl.
      limit = Math.max(limit, serviceLimits.batchGetKeysMax);
    } while (start !== undefined);
  }

  /** From keys of an index to items of the table that still have exactly that key. */
  async *#verified(
    definition: Definition,
    index: IndexInTable,
    range: IndexRange,
    pages: AsyncIterable<readonly Candidate[]>,
    only?: readonly string[],
  ): AsyncGenerator<readonly Candidate[]> {
    const upper = Buffer.from(range.upper);
    for await (const page of pages) {
      for (let from = 0; from < page.length; from += serviceLimits.batchGetKeysMax) {
        const places = page
          .slice(from, from + serviceLimits.batchGetKeysMax)
          .filter(({ item }) => Buffer.compare(item[index.sort]?.B as Uint8Array, upper) < 0);
        const items = await this.#dynamo.getMany(
          definition.table,
          places.map(({ item }) => keyOf(item)),
          only,
        );
        yield places.flatMap(({ item: place }) => {
          const item = items.get(keyText(keyOf(place)));
          const sortKey = sortKeyOf(index, place) as string;
          return item !== undefined && sortKeyOf(index, item) === sortKey && samePartition(index, item, range)
            ? [{ item, sortKey }]
            : [];
        });
      }
    }
  }

  async #collect(
    { table, compiled }: Definition,
    { limit, bytesMax, now }: ScanRequest,
    pages: AsyncIterable<readonly Candidate[]>,
    inPlace: (candidate: Candidate, item: Attributes) => boolean,
  ): Promise<ScanResult> {
    const rows: ScanRow[] = [];
    let bytes = 0;
    for await (const candidates of pages) {
      for (const candidate of candidates) {
        if (!visible(compiled, candidate.item, now)) continue;
        if (rows.length === limit || bytes >= bytesMax) return { rows, done: false };
        const loaded = await this.#documents.load(table, candidate.item);
        // Its document had to be fetched and the item changed meanwhile: it may have left the range.
        if (
          loaded === undefined ||
          (loaded.item !== candidate.item && !(inPlace(candidate, loaded.item) && visible(compiled, loaded.item, now)))
        )
          continue;
        rows.push(candidate.sortKey === undefined ? loaded.stored : { ...loaded.stored, sortKey: candidate.sortKey });
        bytes += loaded.stored.json.length;
      }
    }
    return { rows, done: true };
  }
}

function visible({ ttl: containerTtl }: CompiledContainer, item: Attributes, now: number): boolean {
  const { ttl, modifiedAt } = ageOf(item);
  return !isExpired(containerTtl, ttl, modifiedAt, now);
}

function sortKeyOf(index: IndexInTable, item: Attributes): string | undefined {
  const sort = item[index.sort]?.B;
  return sort === undefined ? undefined : Buffer.from(sort).toString("hex");
}

function samePartition(index: IndexInTable, item: Attributes, range: IndexRange): boolean {
  const partition = item[index.partition]?.B;
  return partition !== undefined && Buffer.compare(partition, range.partition) === 0;
}

/** Undefined if the range is empty: the service rejects such bounds. */
function partitionQuery({ table }: Definition, { pk, lower, upper }: PartitionRange): QueryCommandInput | undefined {
  if (upper === "") return undefined;
  const from = `i${cutText(lower)}`;
  const to = upper === undefined ? afterIds : justBelow(`i${cutText(upper)}`);
  if (compareUtf8(from, to) > 0) return undefined;
  return {
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
    ExpressionAttributeValues: { ":pk": { S: partitionKeyOf(pk) }, ":from": { S: from }, ":to": { S: to } },
  };
}

function indexQuery(
  { table }: Definition,
  index: IndexInTable,
  { partition, lower, upper }: IndexRange,
): QueryCommandInput | undefined {
  // A key attribute cannot be empty, and no sort key begins with 0.
  const from = lower.length === 0 ? Buffer.from([0]) : Buffer.from(lower.subarray(0, serviceLimits.sortKeyBytesMax));
  const to = Buffer.from(upper.subarray(0, serviceLimits.sortKeyBytesMax));
  if (Buffer.compare(from, to) > 0 || partition.length > serviceLimits.hashKeyBytesMax) return undefined;
  return {
    TableName: table,
    IndexName: index.gsi,
    KeyConditionExpression: "#p = :p AND #s BETWEEN :from AND :to",
    ExpressionAttributeNames: { "#p": index.partition, "#s": index.sort },
    ExpressionAttributeValues: { ":p": { B: partition }, ":from": { B: from }, ":to": { B: to } },
  };
}

/** Cuts between two characters. */
function cutText(text: string): string {
  if (withinUtf8Bytes(text, boundBytesMax)) return text;
  const bytes = Buffer.from(text, "utf8");
  let end = boundBytesMax;
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

/**
 * A text that sorts below `upper` and above every id that does: BETWEEN includes its bounds, our upper bound is exclusive. The last
 * character is replaced by its predecessor, followed by U+10FFFF, which no id contains.
 */
function justBelow(upper: string): string {
  const last = Array.from(upper).at(-1) as string;
  const before = (last.codePointAt(0) as number) - 1;
  // There are no characters from U+D800 to U+DFFF.
  return `${upper.slice(0, -last.length)}${String.fromCodePoint(before === 0xdfff ? 0xd7ff : before)}\u{10ffff}`;
}

/** Undefined if nothing ever expires. xs is the time of an item's own expiry, or of its last change (rows.ts). */
function visibleFilter(
  { ttl }: CompiledContainer,
  now: number,
):
  | {
      FilterExpression: string;
      ExpressionAttributeNames: Record<string, string>;
      ExpressionAttributeValues: Attributes;
    }
  | undefined {
  if (ttl === null) return undefined;
  const byDefault = ttl === -1 ? "attribute_not_exists(#t)" : "(attribute_not_exists(#t) AND #xs > :changed)";
  return {
    FilterExpression: `attribute_not_exists(#xs) OR (attribute_exists(#t) AND #xs > :now) OR ${byDefault}`,
    ExpressionAttributeNames: { "#t": "t", "#xs": "xs" },
    ExpressionAttributeValues: {
      ":now": { N: String(now) },
      ...(ttl === -1 ? {} : { ":changed": { N: String(now - ttl * 1000) } }),
    },
  };
}
