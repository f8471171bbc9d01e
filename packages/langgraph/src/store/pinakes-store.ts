/**
 * LangGraph's store on Pinakes: values by namespace and key, for every thread.
 *
 * A search reads the values under its namespace prefix, in the order of namespace and key, and stops when it has enough. With a query it
 * reads all of it and keeps the nearest: exact, in memory bounded by offset + limit, in time that grows with the number of values under the
 * prefix. For large collections use Pinakes' collections, which have an index for that.
 */
import {
  BaseStore,
  type GetOperation,
  type IndexConfig,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { OwnContainer, type StateSource } from "../source.ts";
import { Embedding, type EmbedOptions } from "./embedding.ts";
import { keyId, matchesAll, namespacePath } from "./namespaces.ts";
import { type StoredItem, StoreItems, storeSpec, toItem } from "./store-items.ts";

export interface PinakesStoreOptions {
  /** Makes searches with a query rank by meaning; without it they list. */
  readonly index?: EmbedOptions | IndexConfig | undefined;
  /** Default `langgraph-store`. */
  readonly container?: string | undefined;
}

const containerDefault = "langgraph-store";
const searchLimitDefault = 10;

/**
 * @example
 * const store = new PinakesStore(client);
 * await store.put(["users", "u1"], "likes", { food: "pizza" });
 */
export class PinakesStore extends BaseStore {
  readonly #items: StoreItems;
  readonly #embedding: Embedding | undefined;

  constructor(source: StateSource, options: PinakesStoreOptions = {}) {
    super();
    this.#items = new StoreItems(new OwnContainer(source, options.container ?? containerDefault, storeSpec));
    this.#embedding = options.index === undefined ? undefined : new Embedding(options.index);
  }

  /** Reads see the state before the writes of the same batch; of several writes to one key the last one is applied. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = Array.from(operations, () => undefined);
    const gets = [...operations.entries()].filter((entry): entry is [number, GetOperation] => isGet(entry[1]));
    const found = await this.#items.readMany(gets.map(([, operation]) => operation));
    for (const [i, [place]] of gets.entries()) results[place] = foundItem(found[i]);
    for (const [place, operation] of operations.entries()) {
      if ("namespacePrefix" in operation) results[place] = await this.#search(operation);
      else if (!("namespace" in operation)) results[place] = await this.#listNamespaces(operation);
    }
    await this.#put(operations.filter((operation): operation is PutOperation => "value" in operation));
    return results as OperationResults<Op>;
  }

  async #put(operations: readonly PutOperation[]): Promise<void> {
    if (operations.length === 0) return;
    const puts = [
      ...new Map(operations.map((put) => [`${namespacePath(put.namespace)}${keyId(put.key)}`, put])).values(),
    ];
    const stored = await this.#items.readMany(puts);
    const embedded = puts.map(({ value, index }) => ({ value, index: value === null ? (false as const) : index }));
    const vectors = (await this.#embedding?.vectors(embedded)) ?? [];
    await this.#items.write(puts.map((put, i) => ({ put, stored: stored[i], vectors: vectors[i] ?? [] })));
  }

  async #search({
    namespacePrefix,
    filter,
    limit = searchLimitDefault,
    offset = 0,
    query,
  }: SearchOperation): Promise<SearchItem[]> {
    const end = offset + limit;
    if (limit <= 0) return [];
    const score = query === undefined || query === "" ? undefined : await this.#embedding?.scorer(query);
    const best = new Best(end);
    for await (const item of this.#items.under(namespacePrefix)) {
      if (!matchesFilter(item.value, filter)) continue;
      best.add(item, score?.(item.vectors ?? []));
      if (score === undefined && best.isFull) break;
    }
    return best.items().slice(offset, end);
  }

  async #listNamespaces({ matchConditions, maxDepth, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const prefix =
      matchConditions?.find(({ matchType, path }) => matchType === "prefix" && !path.includes("*"))?.path ?? [];
    const found = new Map<string, string[]>();
    for await (const namespace of this.#items.namespaces(prefix)) {
      if (!matchesAll(namespace, matchConditions)) continue;
      const cut = maxDepth === undefined ? namespace : namespace.slice(0, maxDepth);
      found.set(namespacePath(cut), cut);
      if (found.size >= offset + limit) break;
    }
    return [...found.values()].slice(offset, offset + limit);
  }
}

/** The nearest so far; those without a score come last, in their original order. */
class Best {
  readonly #count: number;
  #entries: { readonly item: StoredItem; readonly score: number | undefined }[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  get isFull(): boolean {
    return this.#entries.length >= this.#count;
  }

  add(item: StoredItem, score: number | undefined): void {
    this.#entries.push({ item, score });
    if (score !== undefined && this.#entries.length >= 2 * this.#count) this.#cut();
  }

  items(): SearchItem[] {
    this.#cut();
    return this.#entries.map(({ item, score }) => ({ ...toItem(item), ...(score === undefined ? {} : { score }) }));
  }

  /** Sorting is stable: among equals the first stays first. */
  #cut(): void {
    const worth = (score: number | undefined): number => score ?? Number.NEGATIVE_INFINITY;
    this.#entries.sort((a, b) => (a.score === b.score ? 0 : worth(b.score) - worth(a.score)));
    this.#entries = this.#entries.slice(0, this.#count);
  }
}

function isGet(operation: Operation): operation is GetOperation {
  return "key" in operation && !("value" in operation);
}

function foundItem(item: StoredItem | undefined): Item | null {
  return item === undefined ? null : toItem(item);
}

/** LangGraph's filters: `{ status: "active", score: { $gte: 3 } }`, on the properties of a value. */

type Operator = (held: unknown, wanted: unknown) => boolean;

const operators: Readonly<Record<string, Operator>> = {
  $eq: equal,
  $ne: (held, wanted) => !equal(held, wanted),
  $gt: (held, wanted) => compared(held, wanted, (order) => order > 0),
  $gte: (held, wanted) => compared(held, wanted, (order) => order >= 0),
  $lt: (held, wanted) => compared(held, wanted, (order) => order < 0),
  $lte: (held, wanted) => compared(held, wanted, (order) => order <= 0),
  $in: (held, wanted) => Array.isArray(wanted) && wanted.some((one) => equal(held, one)),
  $nin: (held, wanted) => !Array.isArray(wanted) || !wanted.some((one) => equal(held, one)),
};

function matchesFilter(
  value: Readonly<Record<string, unknown>>,
  filter: Readonly<Record<string, unknown>> = {},
): boolean {
  return Object.entries(filter).every(([name, wanted]) => {
    const held = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!isOperators(wanted)) return equal(held, wanted);
    return Object.entries(wanted).every(([operator, operand]) => operatorOf(operator)(held, operand));
  });
}

function isOperators(wanted: unknown): wanted is Readonly<Record<string, unknown>> {
  return (
    typeof wanted === "object" &&
    wanted !== null &&
    !Array.isArray(wanted) &&
    Object.keys(wanted).some((key) => key.startsWith("$"))
  );
}

function operatorOf(name: string): Operator {
  const operator = operators[name];
  if (operator !== undefined) return operator;
  throw new Error(`A filter has the operators ${Object.keys(operators).join(", ")}; "${name}" is none of them.`);
}

function equal(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/** Texts among themselves; anything else as numbers, as LangGraph does it. */
function compared(held: unknown, wanted: unknown, holds: (order: number) => boolean): boolean {
  if (held === undefined || held === null) return false;
  if (typeof held === "string" && typeof wanted === "string" && Number.isNaN(Number(wanted)))
    return holds(held < wanted ? -1 : Number(held > wanted));
  return holds(Number(held) - Number(wanted));
}
