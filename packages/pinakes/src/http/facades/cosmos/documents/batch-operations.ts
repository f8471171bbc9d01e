/** Operations as clients write them in the body of a batch, and their results. */
import type { BatchOperation, BatchOutcome, PartitionKeyValue } from "@pinakes/client";
import { show } from "../../../../domain/errors.ts";
import { isJsonObject, utf8Bytes, type JsonObject, type JsonValue } from "../../../../domain/json.ts";
import type { FoundContainer } from "../../../../state/index.ts";
import { unquoted } from "../context.ts";
import { badRequest, type CosmosError } from "../errors.ts";
import { deleteCharge, readCharge, writeCharge } from "../throughput/charge.ts";
import type { ItemView } from "./item-view.ts";
import { keyIn, readPatch, withId } from "./items.ts";

export interface IncomingOperation {
  readonly operation: BatchOperation;
  /** Where the operation names one itself. */
  readonly pk: readonly PartitionKeyValue[] | undefined;
  readonly ifNoneMatch: string | undefined;
}

export function readOperation(given: JsonValue, found: FoundContainer): IncomingOperation {
  if (!isJsonObject(given)) throw badRequest("An operation of a batch is an object with operationType.");
  const { ifMatch, ifNoneMatch } = given;
  const match = typeof ifMatch === "string" ? { if_match: unquoted(ifMatch) as string } : {};
  const operation = operationOf(given, match);
  const document = "document" in operation ? operation.document : undefined;
  const named = typeof given["partitionKey"] === "string" ? readKey(given["partitionKey"]) : undefined;
  return {
    operation,
    pk: named ?? (document === undefined ? undefined : keyIn(found.info.partition_key, document)),
    ifNoneMatch: typeof ifNoneMatch === "string" ? unquoted(ifNoneMatch) : undefined,
  };
}

function operationOf(given: JsonObject, match: { readonly if_match?: string }): BatchOperation {
  const { operationType, id, resourceBody } = given;
  const document = (): JsonObject & { readonly id: string } => {
    if (!isJsonObject(resourceBody)) throw badRequest(`${show(operationType)}: needs a resourceBody.`);
    return withId(resourceBody);
  };
  const name = (): string => {
    if (typeof id !== "string" || id === "") throw badRequest(`${show(operationType)}: needs the id of an item.`);
    return id;
  };
  switch (operationType) {
    case "Create":
      return { op: "create", document: document() };
    case "Upsert":
      return { op: "upsert", document: document(), ...match };
    case "Replace": {
      const next = document();
      if (next.id !== name()) throw badRequest("Replace: the id of an item cannot be changed.");
      return { op: "replace", document: next, ...match };
    }
    case "Read":
      return { op: "read", id: name() };
    case "Delete":
      return { op: "delete", id: name(), ...match };
    case "Patch":
      return { op: "patch", id: name(), ...readPatch(resourceBody), ...match };
    default:
      throw badRequest(
        `operationType: must be Create, Upsert, Read, Replace, Delete or Patch; got ${JSON.stringify(operationType)?.slice(0, 40) ?? "nothing"}.`,
      );
  }
}

export function readKey(text: string): readonly PartitionKeyValue[] {
  try {
    const value = JSON.parse(text) as unknown;
    if (Array.isArray(value))
      return value.map((part: unknown) =>
        typeof part === "object" && part !== null ? {} : (part as PartitionKeyValue),
      );
  } catch {
    // Told below, with what is no list.
  }
  throw badRequest("partitionKey: must be a JSON list as a text.");
}

/** Of an operation that was carried out. */
export function resultOf(
  view: ItemView,
  { operation, ifNoneMatch }: IncomingOperation,
  outcome: BatchOutcome,
  minimal: boolean,
): JsonObject {
  const { status, document } = outcome;
  if (document === undefined) return { statusCode: status, requestCharge: deleteCharge };
  const shown = view.stored(document);
  const bytes = utf8Bytes(JSON.stringify(shown));
  const etag = shown["_etag"] as string;
  const reads = operation.op === "read";
  const requestCharge = reads ? readCharge(bytes) : writeCharge(bytes);
  if (reads && ifNoneMatch !== undefined && ifNoneMatch === unquoted(etag))
    return { statusCode: 304, requestCharge, eTag: etag };
  return { statusCode: status, requestCharge, eTag: etag, ...(minimal && !reads ? {} : { resourceBody: shown }) };
}

export function failedResult({ status, substatus, message, headers }: CosmosError): JsonObject {
  const wait = headers["x-ms-retry-after-ms"];
  return {
    statusCode: status,
    subStatusCode: substatus ?? 0,
    requestCharge: 1,
    message,
    ...(wait === undefined ? {} : { retryAfterMilliseconds: Number(wait) }),
  };
}

export const notTried: JsonObject = { statusCode: 424, requestCharge: 0 };

export function chargeOf(results: readonly JsonObject[]): number {
  return results.reduce((sum, result) => sum + (result["requestCharge"] as number), 0);
}
