/**
 * Several operations in one request: atomic ones of one partition, which are carried out as a whole or not at all, and bulk ones of any
 * partition, each by itself, in their order within a partition.
 */
import type { PartitionKeyValue } from "@pinakes/client";
import { PinakesError } from "../../../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../../../domain/json.ts";
import type { FoundContainer } from "../../../../state/index.ts";
import { answer, batchBytesMax, bodyBytesMax, isMinimal, type CosmosAnswer, type CosmosContext } from "../context.ts";
import { asCosmosError, badRequest, notServed } from "../errors.ts";
import { effectiveKey } from "../ranges/effective-key.ts";
import { rangeById, rangesOf, within } from "../ranges/ranges.ts";
import { keyOf } from "../resources/container-body.ts";
import { findContainer, inRangeOf, throughputOf, wholeKey } from "../resources/find-container.ts";
import { rounded } from "../throughput/charge.ts";
import { metered } from "../resources/metered.ts";
import {
  chargeOf,
  failedResult,
  notTried,
  readOperation,
  resultOf,
  type IncomingOperation,
} from "./batch-operations.ts";
import { itemView } from "./item-view.ts";
import { tooLarge } from "./items.ts";

export const operationsMax = 100;
const partitionsAtOnce = 8;
const answerTooLargeSubstatus = 3402;

export async function batchOf(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  if (context.bodyBytes > bodyBytesMax) throw tooLarge();
  const given = readList(context);
  return metered(context, found, async () => {
    const results = context.flag("x-ms-cosmos-batch-atomic")
      ? await atomic(context, found, given)
      : await bulk(context, found, given);
    context.container = { ...(context.container as NonNullable<typeof context.container>), wrote: true };
    const all = results.every((result) => (result["statusCode"] as number) < 400);
    const status = all || !context.flag("x-ms-cosmos-batch-atomic") ? 200 : 207;
    return answer(status, withinSize(results), { charge: rounded(chargeOf(results)) });
  });
}

function readList(context: CosmosContext): readonly JsonValue[] {
  let value: JsonValue;
  try {
    value = context.json();
  } catch (error) {
    // .NET writes this body in a binary form of its own, HybridRow.
    if (context.header("x-ms-cosmos-batch-ordered") !== undefined)
      throw notServed("Batches in HybridRow (the .NET SDK)");
    throw error;
  }
  if (!Array.isArray(value)) throw badRequest("The body of a batch is a list of operations.");
  if (value.length > operationsMax)
    throw badRequest(
      `Batch request has more operations than what is supported: ${value.length}, at most ${operationsMax}.`,
    );
  if (value.length === 0) throw badRequest("The batch has no operations.");
  return value as readonly JsonValue[];
}

async function atomic(
  context: CosmosContext,
  found: FoundContainer,
  given: readonly JsonValue[],
): Promise<readonly JsonObject[]> {
  const header = context.partitionKey();
  if (header === undefined) throw badRequest("An atomic batch needs its partition key: x-ms-documentdb-partitionkey.");
  const pk = wholeKey(found, header);
  inRangeOf(context, found, pk);
  const incoming = given.map((operation) => readOperation(operation, found));
  requireOnePartition(incoming, pk);
  const view = itemView(found);
  try {
    const operations = incoming.map(({ operation }) => operation);
    const { results } = await context.state.containers.batch(context.caller, found.info.name, pk, operations, {
      exactUpserts: true,
    });
    return results.map((result, i) => resultOf(view, incoming[i] as IncomingOperation, result, isMinimal(context)));
  } catch (error) {
    const failed = PinakesError.isInstance(error) ? error.context.batch : undefined;
    if (failed === undefined) throw error;
    const cause = PinakesError.isInstance((error as PinakesError).cause) ? (error as PinakesError).cause : error;
    return incoming.map((_, i) => (i === failed.index ? failedResult(asCosmosError(cause)) : notTried));
  }
}

function requireOnePartition(incoming: readonly IncomingOperation[], pk: readonly PartitionKeyValue[]): void {
  const wanted = JSON.stringify(pk);
  if (incoming.every((operation) => operation.pk === undefined || JSON.stringify(operation.pk) === wanted)) return;
  throw badRequest(
    "One or more operations within the batch request have a different partition key value than the request.",
  );
}

async function bulk(
  context: CosmosContext,
  found: FoundContainer,
  given: readonly JsonValue[],
): Promise<readonly JsonObject[]> {
  const key = keyOf(found);
  const rangeId = context.header("x-ms-documentdb-partitionkeyrangeid");
  const range = rangeId === undefined ? undefined : rangeById(rangesOf(key, throughputOf(found)), rangeId);
  const goOn = context.flag("x-ms-cosmos-batch-continue-on-error");
  const view = itemView(found);
  const results: JsonObject[] = Array.from({ length: given.length }, () => notTried);
  const run = async (i: number, incoming: IncomingOperation): Promise<boolean> => {
    try {
      const pk = wholeKey(found, incoming.pk ?? []);
      if (range !== undefined && !within(range, effectiveKey(key, pk)))
        throw badRequest(`The operation is not for partition key range "${range.id}".`);
      results[i] = await one(context, found, pk, incoming, view);
      return true;
    } catch (error) {
      results[i] = failedResult(asCosmosError(error));
      return false;
    }
  };
  const incoming = given.map((operation, i) => ({ i, operation: readOrFail(operation, found, results, i) }));
  if (!goOn) {
    for (const { i, operation } of incoming) if (operation === undefined || !(await run(i, operation))) break;
    return results;
  }
  const groups = [...Map.groupBy(incoming, ({ operation }) => JSON.stringify(operation?.pk ?? null)).values()];
  const next = async (): Promise<void> => {
    for (let group = groups.shift(); group !== undefined; group = groups.shift())
      for (const { i, operation } of group) if (operation !== undefined) await run(i, operation);
  };
  await Promise.all(Array.from({ length: partitionsAtOnce }, next));
  return results;
}

function readOrFail(
  operation: JsonValue,
  found: FoundContainer,
  results: JsonObject[],
  i: number,
): IncomingOperation | undefined {
  try {
    return readOperation(operation, found);
  } catch (error) {
    results[i] = failedResult(asCosmosError(error));
    return undefined;
  }
}

async function one(
  context: CosmosContext,
  found: FoundContainer,
  pk: readonly PartitionKeyValue[],
  incoming: IncomingOperation,
  view: ReturnType<typeof itemView>,
): Promise<JsonObject> {
  const { containers } = context.state;
  const name = found.info.name;
  if (incoming.operation.op === "read") {
    const document = await containers.read(context.caller, name, pk, incoming.operation.id);
    return resultOf(view, incoming, { status: 200, document }, false);
  }
  const outcome = await containers.write(context.caller, name, pk, incoming.operation, { exactUpserts: true });
  return resultOf(view, incoming, outcome, isMinimal(context));
}

/** What does not fit into the answer is told to be too large; a client reads it by itself. */
function withinSize(results: readonly JsonObject[]): JsonValue {
  let bytes = 0;
  return results.map((result) => {
    const size = JSON.stringify(result).length;
    if (result["resourceBody"] === undefined || bytes + size <= batchBytesMax) {
      bytes += size;
      return result;
    }
    return { statusCode: 413, subStatusCode: answerTooLargeSubstatus, requestCharge: result["requestCharge"] ?? 0 };
  });
}
