/** One request of a Cosmos DB client: who asks, for what, and what the answer will say besides its body. */
import type { PartitionKeyValue } from "@pinakes/client";
import type { Caller } from "../../../domain/caller.ts";
import { utf8Bytes, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Pinakes } from "../../../open.ts";
import type { State } from "../../../state/index.ts";
import { badRequest, CosmosError } from "./errors.ts";
import type { Budgets } from "./throughput/budget.ts";
import { metadataCharge } from "./throughput/charge.ts";
import type { Sessions } from "./session.ts";

export interface Facade {
  readonly pinakes: Pinakes;
  readonly budgets: Budgets;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

export interface CosmosAnswer {
  readonly status: number;
  readonly body?: JsonValue | undefined;
  /** The body as JSON, where its size was needed anyway. */
  readonly text?: string | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Request units. */
  readonly charge?: number | undefined;
}

export interface CosmosContextParts {
  readonly facade: Facade;
  readonly caller: Caller;
  readonly method: string;
  readonly segments: readonly string[];
  /** The address of the facade as the client called it. */
  readonly endpoint: () => string;
  readonly headers: Headers;
  readonly body: string;
}

export const bodyBytesMax = 2_097_152;
/** Of the answer to a batch or a bulk request. */
export const batchBytesMax = 4_194_304;

export class CosmosContext {
  readonly facade: Facade;
  readonly caller: Caller;
  readonly method: string;
  readonly segments: readonly string[];
  readonly endpoint: () => string;
  readonly #headers: Headers;
  readonly #body: string;
  /** Of the container that it is about; set when it was found. */
  container:
    | { readonly rid: string; readonly link: string; readonly rangeId: string; readonly wrote: boolean }
    | undefined;

  constructor(parts: CosmosContextParts) {
    this.facade = parts.facade;
    this.caller = parts.caller;
    this.method = parts.method;
    this.segments = parts.segments;
    this.endpoint = parts.endpoint;
    this.#headers = parts.headers;
    this.#body = parts.body;
  }

  get state(): State {
    return this.facade.pinakes.state;
  }

  header(name: string): string | undefined {
    const value = this.#headers.get(name);
    return value === null || value === "" ? undefined : value;
  }

  flag(name: string): boolean {
    return this.header(name)?.toLowerCase() === "true";
  }

  get bodyBytes(): number {
    return utf8Bytes(this.#body);
  }

  json(): JsonValue {
    try {
      return JSON.parse(this.#body) as JsonValue;
    } catch (error) {
      throw new CosmosError(400, "The request body is not valid JSON.", { cause: error });
    }
  }

  object(): JsonObject {
    const value = this.json();
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
    throw badRequest("The request body must be a JSON object.");
  }

  /** Undefined where the header is absent. `{}` stands for no value. */
  partitionKey(): readonly PartitionKeyValue[] | undefined {
    const text = this.header("x-ms-documentdb-partitionkey");
    if (text === undefined) return undefined;
    const value = parsedKey(text);
    return value.map((part) => (isObject(part) || Array.isArray(part) ? {} : (part as PartitionKeyValue)));
  }

  /** −1 and absent: the server's own. */
  maxItemCount(): number | undefined {
    const text = this.header("x-ms-max-item-count");
    if (text === undefined) return undefined;
    const count = Number(text);
    if (!Number.isInteger(count) || count < -1 || count === 0)
      throw badRequest(`x-ms-max-item-count: must be a whole number from 1, or -1; got ${text.slice(0, 20)}.`);
    return count === -1 ? undefined : Math.min(count, pageItemsMax);
  }
}

const pageItemsMax = 1_000;

function parsedKey(text: string): readonly JsonValue[] {
  try {
    const value = JSON.parse(text) as JsonValue;
    if (Array.isArray(value)) return value as readonly JsonValue[];
  } catch {
    // Told below, with what is no list.
  }
  throw badRequest(
    "Partition key provided in the header is invalid: x-ms-documentdb-partitionkey must be a JSON list.",
  );
}

function isObject(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function answer(
  status: number,
  body: JsonValue | undefined,
  more: Omit<CosmosAnswer, "status" | "body"> = {},
): CosmosAnswer {
  return { charge: metadataCharge, ...more, status, body };
}

export function noBody(more: Omit<CosmosAnswer, "status" | "body"> = {}): CosmosAnswer {
  return { charge: metadataCharge, ...more, status: 204 };
}

/** The same as JSON, of items that are JSON already. */
export function feedText(rid: string, name: string, items: string, count: number): string {
  return `{"_rid":${JSON.stringify(rid)},${JSON.stringify(name)}:${items},"_count":${count}}`;
}

export function feedOf(rid: string, name: string, items: readonly JsonValue[]): JsonObject {
  return { _rid: rid, [name]: items, _count: items.length };
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}

export function unquoted(header: string | undefined): string | undefined {
  return header === undefined ? undefined : header.replace(/^(?:W\/)?"(.*)"$/s, "$1");
}

/** Whether the client wants to know that it was written, not what. */
export function isMinimal(context: CosmosContext): boolean {
  return context.header("prefer")?.toLowerCase() === "return=minimal";
}
