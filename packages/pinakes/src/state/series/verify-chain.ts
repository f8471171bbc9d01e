/** Verifies that the entries of a chained day are unchanged and complete. */
import type { ChainCheck } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { isExpired } from "../../domain/ttl.ts";
import type { DefaultTtl, Item, ItemStore } from "../../ports/item-store.ts";
import { companionField } from "../system-container.ts";
import { everyItem } from "../../containers/every-item.ts";
import { linkHash, readHead, type ChainHead, type Link } from "./ingest/chain.ts";
import { toolSeries } from "./tool-document.ts";

/** A few hundred bytes each while they are sorted. */
const entriesMaxDefault = 2_000_000;
/** Checking whether there is any entry reads one; a day has a few companions besides. */
const firstLookItems = 10;
/** Clock skew between writers. */
const skewMs = 60_000;

interface Entry extends Link {
  readonly id: string;
  /** Its content matches the hash of its link. */
  readonly intact: boolean;
}

/** Reads the partition itself: an index may be eventually consistent. */
export async function verifyChain(
  items: ItemStore,
  scope: Scope,
  date: string,
  now: number,
  entriesMax = entriesMaxDefault,
): Promise<ChainCheck> {
  const head = await readHead(items, scope, date);
  if (head === undefined) {
    const state = (await hasEntry(items, scope, date)) ? "unchained" : "empty";
    return { tool_date: date, state, entries: 0, intact: true, broken_at: null, head: null };
  }
  const entries: Entry[] = [];
  let added: string | undefined;
  for await (const item of entriesOf(items, scope, date)) {
    const link = linkOf(item);
    // Entries older than the chain have no link.
    if (link === undefined) added ??= item.modifiedAt >= head.startedAt ? item.id : undefined;
    else if (link.sequence <= head.sequence)
      entries.push({ ...link, id: item.id, intact: isErased(item) || linkHash(item.document, link) === link.hash });
    if (entries.length > entriesMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `A day with more than ${entriesMax} entries cannot be verified in one call.`,
      );
  }
  entries.sort((a, b) => a.sequence - b.sequence);
  const broken = added ?? firstBreak(entries, head, now, items.defaultTtl(scope, toolSeries.container));
  return {
    tool_date: date,
    state: "chained",
    entries: entries.length,
    intact: broken === undefined,
    broken_at: broken ?? null,
    head: head.hash,
  };
}

async function hasEntry(items: ItemStore, scope: Scope, date: string): Promise<boolean> {
  for await (const _ of entriesOf(items, scope, date, firstLookItems)) return true;
  return false;
}

/** An id, or the position of a missing entry. */
function firstBreak(
  entries: readonly Entry[],
  head: ChainHead,
  now: number,
  { seconds }: DefaultTtl,
): string | undefined {
  const expired = (writtenAt: number): boolean => isExpired(seconds, null, writtenAt, now + skewMs);
  const first = entries[0];
  if (first === undefined) return expired(head.writtenAt) ? undefined : missing(1);
  if (first.sequence > 1 && !expired(head.startedAt)) return missing(1);
  let before: Entry | undefined;
  for (const entry of entries) {
    if (!entry.intact || entry.sequence === before?.sequence) return entry.id;
    if (entry.sequence === 1 && entry.previous !== null) return entry.id;
    if (before !== undefined && entry.sequence !== before.sequence + 1) return missing(before.sequence + 1);
    if (before !== undefined && entry.previous !== before.hash) return entry.id;
    before = entry;
  }
  if (before === undefined || before.sequence !== head.sequence) return missing((before?.sequence ?? 0) + 1);
  return before.hash === head.hash ? undefined : before.id;
}

function missing(sequence: number): string {
  return `missing: ${sequence}`;
}

function linkOf({ document }: Item): Link | undefined {
  const link = document["chain"] as unknown as Partial<Link> | null | undefined;
  if (typeof link !== "object" || link === null) return undefined;
  const { sequence, previous = null, hash } = link;
  return Number.isInteger(sequence) && typeof hash === "string"
    ? { sequence: sequence as number, previous, hash }
    : undefined;
}

/** The place of an entry whose content was erased (RFC 0012): its hash can no longer be computed, but the next entry still follows it. */
function isErased({ document }: Item): boolean {
  return document[companionField] === "erased";
}

async function* entriesOf(
  items: ItemStore,
  scope: Scope,
  date: string,
  limit: number = limits.pageItemsMax,
): AsyncGenerator<Item> {
  for await (const item of everyItem(items, scope, toolSeries.container, {
    equals: { [toolSeries.dateField]: date },
    limit,
  }))
    if (item.document[companionField] === undefined || isErased(item)) yield item;
}
