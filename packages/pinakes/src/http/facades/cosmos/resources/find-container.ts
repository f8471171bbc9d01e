/** The container that a request is about, and the partition of it. */
import type { PartitionKeyValue } from "@pinakes/client";
import { hasCode } from "../../../../domain/errors.ts";
import { isNoValue } from "../../../../domain/partition-value.ts";
import { requireSystemKeyValue } from "./system-key.ts";
import type { FoundContainer } from "../../../../state/index.ts";
import type { CosmosContext } from "../context.ts";
import { badRequest, CosmosError } from "../errors.ts";
import { effectiveKey } from "../ranges/effective-key.ts";
import { rangesOf, within, type KeyRange } from "../ranges/ranges.ts";
import { containerRid } from "../rid.ts";
import type { Budget } from "../throughput/budget.ts";
import { keyOf } from "./container-body.ts";

/** The parent of a document is gone, not the document itself: clients forget what they know of the container. */
const ownerGoneSubstatus = 1003;

export async function findContainer(context: CosmosContext): Promise<FoundContainer> {
  const { caller, state, segments } = context;
  const [, database = "", , name = ""] = segments;
  const inside = segments.length > 4;
  try {
    const found = await state.databases.container(caller, database, name, { fresh: !inside });
    context.container = {
      rid: containerRid(found.database, found.entry),
      link: `dbs/${database}/colls/${name}`,
      rangeId: context.header("x-ms-documentdb-partitionkeyrangeid") ?? "0",
      wrote: false,
    };
    return found;
  } catch (error) {
    if (!hasCode(error, "NOT_FOUND")) throw error;
    throw new CosmosError(404, error.detail, { substatus: inside ? ownerGoneSubstatus : undefined, cause: error });
  }
}

/** Request units a second: what sets the number of ranges. */
export function throughputOf({ database, entry }: FoundContainer): number {
  const throughput = entry.throughput ?? database.throughput;
  return throughput === null ? 0 : (throughput.autoscale_max ?? throughput.ru);
}

/** Undefined where nothing is limited. */
export function budgetOf(context: CosmosContext, { database, entry }: FoundContainer): Budget | undefined {
  const throughput = entry.throughput ?? database.throughput;
  if (throughput === null) return undefined;
  const owner = entry.throughput === null ? database.key : `${database.key}/${entry.key}`;
  return { name: `${context.caller.scope.tenant}/${owner}`, ru: throughput.autoscale_max ?? throughput.ru };
}

/** Every value of the key, for what is about one item or one partition. */
export function requirePartition(context: CosmosContext, found: FoundContainer): readonly PartitionKeyValue[] {
  const values = context.partitionKey() ?? (keyOf(found).systemKey ? [] : undefined);
  if (values === undefined) throw badRequest("The partition key is missing: send x-ms-documentdb-partitionkey.");
  const pk = wholeKey(found, values);
  inRangeOf(context, found, pk);
  return pk;
}

/** The answer names the range that the partition lies in: clients keep a session token for each range. */
export function inRangeOf(context: CosmosContext, found: FoundContainer, pk: readonly PartitionKeyValue[]): void {
  const key = keyOf(found);
  const ranges = rangesOf(key, throughputOf(found));
  const [only, another] = ranges;
  const range = another === undefined ? only : rangeAt(ranges, effectiveKey(key, pk));
  if (context.container !== undefined && range !== undefined)
    context.container = { ...context.container, rangeId: range.id };
}

function rangeAt(ranges: readonly KeyRange[], place: string): KeyRange | undefined {
  return ranges.find((one) => within(one, place));
}

export function wholeKey(found: FoundContainer, values: readonly PartitionKeyValue[]): readonly PartitionKeyValue[] {
  const { paths, systemKey } = keyOf(found);
  if (systemKey) return requireSystemKeyValue(values);
  if (values.length !== paths.length)
    throw badRequest(
      `Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key field values specified in the document: ${values.length} values for ${paths.join(", ")}.`,
    );
  const optional = found.info.optional_key;
  if (!optional && values.some((value) => value === null || isNoValue(value)))
    throw badRequest(
      `${paths.join(", ")}: the partition key of this container is always a text, a number, true or false.`,
    );
  return values;
}
