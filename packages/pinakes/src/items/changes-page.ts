/** One page of the change feed: the engine's log, joined with the documents that are still the newest. */
import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Change, ChangePage, ChangesOptions, Partition } from "../ports/item-store.ts";
import type { FeedChange, StoredItem } from "./item-engine.ts";
import type { PageContext } from "./query-page.ts";
import { checkLimit } from "./query-plan.ts";

export async function changesPage({ engine, tokens, container, tenant }: PageContext, options: ChangesOptions): Promise<ChangePage> {
  const limit = checkLimit(options.limit);
  let position: string | undefined = options.from === "now" ? "now" : undefined;
  if (options.cursor !== undefined) {
    const payload = tokens.open("feed cursor", tenant, options.cursor);
    if (payload["c"] !== container.name) throw invalid(`The feed cursor belongs to container "${payload["c"] as string}", not to "${container.name}".`);
    position = payload["p"] as string;
  }
  const page = await engine.changes(container, { tenant, position, limit });
  const puts = page.changes.filter(({ kind }) => kind === "put");
  const stored = await engine.readMany(container, puts);
  const current = new Map(stored.flatMap((row) => (row === undefined ? [] : [[`${row.pk} ${row.idKey}`, row] as const])));
  return {
    changes: page.changes.map((change) => toChange(change, current.get(`${change.pk} ${change.idKey}`))),
    cursor: tokens.seal("feed cursor", tenant, { c: container.name, p: page.position }),
    more: page.more,
  };
}

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
