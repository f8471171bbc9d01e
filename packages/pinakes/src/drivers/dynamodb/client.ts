/**
 * The connection to DynamoDB. The SDK is loaded only when a store is opened, and its own retries are off: ours know what is safe to repeat.
 */
import type {
  AttributeValue,
  DynamoDB,
  KeysAndAttributes,
  QueryCommandInput,
  QueryCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { PinakesError } from "../../domain/errors.ts";
import { classify, wrapError } from "./errors.ts";
import { serviceLimits } from "./service-limits.ts";
import { backoffMs, mapLimited, sleep } from "./waiting.ts";
import { requestHandler, type ConnectionOptions } from "../../runtime/aws-connection.ts";

export type Attributes = Record<string, AttributeValue>;

export interface TableKey {
  readonly pk: string;
  readonly sk: string;
}

/** After this the client aborts a request; it may still be carried out later. */
export const requestMsMax = 5_000;
const readAttemptsMax = 8;
const batchesInParallel = 4;

export async function connect({ region, endpoint, credentials }: ConnectionOptions): Promise<Dynamo> {
  const sdk = await import("@aws-sdk/client-dynamodb");
  const api = new sdk.DynamoDB({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials: { ...credentials } }),
    maxAttempts: 1,
    requestHandler: requestHandler(requestMsMax),
  });
  return new Dynamo(api);
}

export class Dynamo {
  /** For writes, which are sent once; the caller decides what a failure means. */
  readonly api: DynamoDB;

  constructor(api: DynamoDB) {
    this.api = api;
  }

  /** For reads and other repeatable calls: retries throttling and lost responses, bounded. */
  async repeat<T>(doing: string, call: (api: DynamoDB) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await call(this.api);
      } catch (error) {
        if (["refused", "condition"].includes(classify(error)) || attempt + 1 >= readAttemptsMax)
          throw wrapError(error, doing);
        await sleep(backoffMs(attempt + 2));
      }
    }
  }

  async get(table: string, key: TableKey): Promise<Attributes | undefined> {
    const { Item } = await this.repeat("read an item", (api) =>
      api.getItem({ TableName: table, Key: toKey(key), ConsistentRead: true }),
    );
    return Item;
  }

  /** Strongly consistent, keyed by `keyText`. Absent items are absent from the answer. `only` limits the returned attributes. */
  async getMany(table: string, keys: readonly TableKey[], only?: readonly string[]): Promise<Map<string, Attributes>> {
    const found = new Map<string, Attributes>();
    const unique = [...new Map(keys.map((key) => [keyText(key), key])).values()];
    if (unique.length === 1 && only === undefined) {
      const item = await this.get(table, unique[0] as TableKey);
      if (item !== undefined) found.set(keyText(unique[0] as TableKey), item);
      return found;
    }
    const chunks = Array.from({ length: Math.ceil(unique.length / serviceLimits.batchGetKeysMax) }, (_, i) =>
      unique.slice(i * serviceLimits.batchGetKeysMax, (i + 1) * serviceLimits.batchGetKeysMax),
    );
    const pages = await mapLimited(chunks, batchesInParallel, (chunk) => this.#getChunk(table, chunk, only));
    for (const item of pages.flat()) found.set(keyText(keyOf(item)), item);
    return found;
  }

  /** The service returns any number of keys, and lists the rest. */
  async #getChunk(
    table: string,
    keys: readonly TableKey[],
    only: readonly string[] | undefined,
  ): Promise<Attributes[]> {
    const items: Attributes[] = [];
    const projection = only === undefined ? {} : projectionOf(["pk", "sk", ...only]);
    let request: KeysAndAttributes | undefined = { Keys: keys.map(toKey), ConsistentRead: true, ...projection };
    for (let idle = 0; request !== undefined;) {
      const asked: KeysAndAttributes = request;
      const { Responses, UnprocessedKeys } = await this.repeat("read items", (api) =>
        api.batchGetItem({ RequestItems: { [table]: asked } }),
      );
      const page = Responses?.[table] ?? [];
      items.push(...page);
      request = UnprocessedKeys?.[table];
      idle = page.length === 0 ? idle + 1 : 0;
      if (idle >= readAttemptsMax)
        throw new PinakesError("UNAVAILABLE", "DynamoDB is throttling reads of this table. Try again shortly.");
      if (idle > 0) await sleep(backoffMs(idle + 2));
    }
    return items;
  }

  async query(input: QueryCommandInput): Promise<QueryCommandOutput> {
    return this.repeat("query", (api) => api.query(input));
  }

  close(): void {
    this.api.destroy();
  }
}

export function toKey({ pk, sk }: TableKey): Attributes {
  return { pk: { S: pk }, sk: { S: sk } };
}

export function keyOf(item: Attributes): TableKey {
  return { pk: item["pk"]?.S ?? "", sk: item["sk"]?.S ?? "" };
}

/** One string per key. No key contains NUL, so two keys never share one. */
export function keyText({ pk, sk }: TableKey): string {
  return `${pk}\0${sk}`;
}

function projectionOf(names: readonly string[]): {
  ProjectionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
} {
  return {
    ProjectionExpression: names.map((_, i) => `#n${i}`).join(", "),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#n${i}`, name])),
  };
}
