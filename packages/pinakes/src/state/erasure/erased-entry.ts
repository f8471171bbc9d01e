/** What takes the place of an erased entry of a hash chain: its link, which holds the hash of the entry, and nothing else of it. */
import type { JsonObject } from "../../domain/json.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { toolSeries } from "../series/tool-document.ts";

/** Undefined: the entry is in no chain. */
export function erasedEntry(date: string, { document, modifiedAt }: WalkedItem, now: number): JsonObject | undefined {
  const chain = document["chain"] as JsonObject | undefined;
  if (chain === undefined || chain === null) return undefined;
  // It expires when the entry would have: a chain expires from its oldest end.
  const left = Math.ceil((modifiedAt + toolSeries.ttlSeconds * 1000 - now) / 1000);
  return {
    id: `${reservedIdPrefix}erased-${chain["sequence"] as number}`,
    [toolSeries.dateField]: date,
    [companionField]: "erased",
    chain,
    ttl: Math.max(1, left),
  };
}
