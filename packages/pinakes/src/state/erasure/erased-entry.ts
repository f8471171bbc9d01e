/** What takes the place of an erased entry of a hash chain: its link, which holds the hash of the entry, and nothing else of it. */
import type { JsonObject } from "../../domain/json.ts";
import { expiresAt } from "../../domain/ttl.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { toolSeries } from "../series/tool-document.ts";

/** Undefined: the entry is in no chain. */
export function erasedEntry(
  date: string,
  { document, modifiedAt }: WalkedItem,
  { now, ttlSeconds }: { readonly now: number; readonly ttlSeconds: number | null },
): JsonObject | undefined {
  const chain = document["chain"] as JsonObject | undefined;
  if (chain === undefined || chain === null) return undefined;
  // It expires when the entry would have: a chain expires from its oldest end.
  const expires = expiresAt(ttlSeconds, null, modifiedAt);
  return {
    id: `${reservedIdPrefix}erased-${chain["sequence"] as number}`,
    [toolSeries.dateField]: date,
    [companionField]: "erased",
    chain,
    ttl: expires === null ? -1 : Math.max(1, Math.ceil((expires - now) / 1000)),
  };
}
