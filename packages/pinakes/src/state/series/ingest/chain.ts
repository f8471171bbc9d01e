/**
 * The hash chain of a day (RFC 0006): each invocation has `chain: { sequence, previous, hash }`, and `~chain` holds the head. A batch is
 * conditional on the head it goes on from, so that no two entries have one place.
 *
 * - The hash is over the canonical JSON of the entry with its sequence and the hash before it.
 * - A day that has begun a chain keeps it, whatever the setting says later; a batch of a day without one checks that there is still
 *   none. So an entry without a link that was stored after the chain began was put there by somebody else.
 * - Entries of a chain have no time to live of their own: they expire in their order, the oldest first, and what is left is still a
 *   chain. Whether the first ones may be missing is told by the moment at which the first was written.
 */
import { hash } from "node:crypto";
import { invalid, type PinakesError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { ItemStore, Operation } from "../../../ports/item-store.ts";
import { canonicalJson } from "../../../runtime/canonical-json.ts";
import { companionFields } from "../stamps.ts";
import { toolSeries } from "../tool-document.ts";
import type { Companion, Row } from "./write-rows.ts";

const headId = "~chain";

export interface ChainHead {
  readonly sequence: number;
  readonly hash: string;
  /** Epoch milliseconds of the first and the last entry. */
  readonly startedAt: number;
  readonly writtenAt: number;
  readonly etag: string;
}

export interface Link {
  readonly sequence: number;
  readonly previous: string | null;
  readonly hash: string;
}

export function linkHash(entry: JsonObject, { sequence, previous }: Omit<Link, "hash">): string {
  const { chain: _chain, ...content } = entry;
  return hash("sha256", canonicalJson({ ...content, chain: { sequence, previous } }), "hex");
}

export async function readHead(items: ItemStore, scope: Scope, date: string): Promise<ChainHead | undefined> {
  const item = await items.read(scope, toolSeries.container, { partition: [date], id: headId });
  if (item === undefined) return undefined;
  const { sequence, hash: last, started_at, written_at } = item.document;
  return { sequence, hash: last, startedAt: started_at, writtenAt: written_at, etag: item.etag } as ChainHead;
}

/** Adds its link to each row, and the head to the batch. */
export function chainCompanion(items: ItemStore, clock: Clock, wanted: boolean): Companion {
  return {
    accompany: async (scope, date, rows) => {
      const head = await readHead(items, scope, date);
      if (head === undefined && !wanted) {
        return {
          operations: [{ op: "check", id: headId, exists: false }],
          documents: rows.map(({ document }) => document),
        };
      }
      const refused = new Map(
        rows.filter(({ document }) => document["ttl"] !== undefined).map((row) => [row, ownTtl()]),
      );
      if (refused.size > 0) return { operations: [], documents: [], refused };
      const documents = linked(head, rows);
      return { operations: [nextHead(head, date, documents.at(-1) as JsonObject, clock.now())], documents };
    },
  };
}

function linked(head: ChainHead | undefined, rows: readonly Row[]): readonly JsonObject[] {
  let [sequence, previous]: [number, string | null] = [head?.sequence ?? 0, head?.hash ?? null];
  return rows.map(({ document }) => {
    sequence += 1;
    const link: Link = { sequence, previous, hash: linkHash(document, { sequence, previous }) };
    previous = link.hash;
    return { ...document, chain: { ...link } };
  });
}

function nextHead(head: ChainHead | undefined, date: string, last: JsonObject, now: number): Operation {
  const { sequence, hash: top } = last["chain"] as unknown as Link;
  const document = {
    id: headId,
    [toolSeries.dateField]: date,
    ...companionFields("chain"),
    sequence,
    hash: top,
    started_at: head?.startedAt ?? now,
    written_at: now,
  };
  return head === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: head.etag };
}

/** A line of a chained day cannot say how long it lives. */
export function ownTtl(): PinakesError {
  return invalid(
    "ttl: entries of a hash chain live as long as the container says, so that only its oldest part expires; omit it.",
  );
}
