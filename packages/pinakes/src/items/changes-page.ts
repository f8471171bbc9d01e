/** One page of the change feed: the engine's log, joined with the documents that are still the newest. */
import { randomBytes } from "node:crypto";
import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Change, ChangePage, ChangesOptions, Partition } from "../ports/item-store.ts";
import { limits } from "../domain/limits.ts";
import type { CompiledContainer } from "./compiled-container.ts";
import type { FeedChange, ItemEngine, StoredItem, StoredKey } from "./item-engine.ts";
import type { PageContext } from "./query-page.ts";
import { checkLimit } from "./query-plan.ts";

export async function changesPage(
  { engine, tokens, container, tenant }: PageContext,
  options: ChangesOptions,
): Promise<ChangePage> {
  const limit = checkLimit(options.limit);
  let position: string | undefined = options.from === "now" ? "now" : undefined;
  if (options.cursor !== undefined) {
    const payload = tokens.open("feed cursor", tenant, options.cursor);
    if (payload["c"] !== container.name)
      throw invalid(`The feed cursor belongs to container "${payload["c"] as string}", not to "${container.name}".`);
    position = (payload["p"] as string).trimEnd();
  }
  let page = await engine.changes(container, { tenant, position, limit });
  const { current, fit } = await documentsOf(engine, container, page.changes);
  // The documents of the whole page would exceed the byte limit: the page ends early.
  if (fit < page.changes.length) page = await engine.changes(container, { tenant, position, limit: fit });
  return {
    changes: page.changes.map((change) => toChange(change, current.get(keyOf(change)))),
    cursor: tokens.seal("feed cursor", tenant, {
      c: container.name,
      p: padded(page.position),
      n: randomBytes(nonceBytes).toString("base64"),
    }),
    more: page.more,
  };
}

/**
 * Feed positions count all tenants together. A cursor that stays the same while there are no writes, or grows with their number, would tell
 * one tenant about the others.
 */
const nonceBytes = 9;
const positionChars = 64;
const padded = (position: string): string =>
  position.padEnd(Math.ceil(position.length / positionChars) * positionChars);

const keyOf = ({ pk, idKey }: StoredKey): string => `${pk} ${idKey}`;

/** The stored rows of the changes, each read once, and how many changes fit into a page's bytes (at least one). */
async function documentsOf(
  engine: ItemEngine,
  container: CompiledContainer,
  changes: readonly FeedChange[],
): Promise<{ current: Map<string, StoredItem>; fit: number }> {
  const current = new Map<string, StoredItem>();
  const seen = new Set<string>();
  let bytes = 0;
  for (let start = 0; start < changes.length; start += readKeysPerStep) {
    const step = changes.slice(start, start + readKeysPerStep);
    const wanted = step.filter(
      (change) => change.kind === "put" && !seen.has(keyOf(change)) && seen.add(keyOf(change)),
    );
    for (const row of await engine.readMany(container, wanted)) {
      if (row === undefined) continue;
      current.set(keyOf(row), row);
      bytes += row.json.length;
    }
    if (bytes > limits.pageBytesMax) return { current, fit: start + step.length };
  }
  return { current, fit: changes.length };
}

const readKeysPerStep = 10;

function toChange({ kind, pk, id, etag, at, expired }: FeedChange, row: StoredItem | undefined): Change {
  const [, ...partition] = JSON.parse(pk) as [string, ...Partition];
  return {
    kind,
    partition,
    id,
    etag,
    at,
    ...(expired ? { expired } : {}),
    ...(kind === "put" && row?.etag === etag ? { document: JSON.parse(row.json) as JsonObject } : {}),
  };
}
