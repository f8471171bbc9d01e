/** Containers made without a partition key by old clients: their documents have none, whichever way a client says so. */
import type { PartitionKeyValue } from "@pinakes/client";
import { isNoValue, noValue } from "../../../../domain/partition-value.ts";

export function requireSystemKeyValue(values: readonly PartitionKeyValue[]): readonly PartitionKeyValue[] {
  return values.length === 0 || isNoValue(values[0]) ? [noValue] : values;
}
