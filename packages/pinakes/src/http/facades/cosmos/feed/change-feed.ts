/**
 * The change feed, pulled: the latest version of each item that changed. A token is a place in the feed of the container; changes
 * outside of the partition or range that is asked for are passed over.
 */
import type { ContainerChange } from "@pinakes/client";
import { hasCode } from "../../../../domain/errors.ts";
import { utf8Bytes, type JsonObject } from "../../../../domain/json.ts";
import type { FoundContainer } from "../../../../state/index.ts";
import { answer, feedOf, quoted, unquoted, type CosmosAnswer, type CosmosContext } from "../context.ts";
import { badRequest, CosmosError } from "../errors.ts";
import { itemView } from "../documents/item-view.ts";
import { effectiveKey } from "../ranges/effective-key.ts";
import { within } from "../ranges/ranges.ts";
import { keyOf } from "../resources/container-body.ts";
import { findContainer } from "../resources/find-container.ts";
import { rangeOf } from "../queries/query.ts";
import { feedCharge } from "../throughput/charge.ts";
import { metered } from "../resources/metered.ts";

/** Pages of the container's feed that one request looks at; the token goes on from there. */
const pagesMax = 20;

export async function changeFeed(context: CosmosContext): Promise<CosmosAnswer> {
  const mode = context.header("a-im")?.toLowerCase() ?? "";
  if (mode.startsWith("full-fidelity"))
    throw badRequest(
      "Change feed mode AllVersionsAndDeletes: all versions are not kept by Pinakes; use the mode LatestVersion.",
    );
  if (!mode.startsWith("incremental")) throw badRequest("A-IM: must be Incremental Feed.");
  const found = await findContainer(context);
  return metered(context, found, () => readFeedPage(context, found));
}

interface Start {
  readonly cursor?: string;
  readonly from?: "oldest" | "now";
  /** Epoch milliseconds. */
  readonly since?: number;
}

async function readFeedPage(context: CosmosContext, found: FoundContainer): Promise<CosmosAnswer> {
  const start = startOf(context);
  const wanted = filterOf(context, found);
  const limit = context.maxItemCount() ?? 100;
  const view = itemView(found);
  const items: JsonObject[] = [];
  let { cursor } = start;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await readChanges(context, found, { cursor, from: start.from, limit: limit - items.length });
    cursor = page.cursor;
    for (const change of page.items) {
      const { document, at } = change;
      if (document === undefined || !wanted(change)) continue;
      const changedAt = Date.parse(at);
      if (start.since === undefined || changedAt >= start.since)
        items.push({ ...view.stored(document), _lsn: changedAt });
    }
    if (!page.more || items.length >= limit) break;
  }
  const token = start.since === undefined || items.length > 0 ? cursor : `${start.since}~${cursor}`;
  const headers = { etag: quoted(token as string), "x-ms-item-count": String(items.length) };
  const charge = feedCharge(items.length, utf8Bytes(JSON.stringify(items)));
  if (items.length === 0) return answer(304, undefined, { charge, headers });
  const { rid } = context.container as { rid: string };
  return answer(200, feedOf(rid, "Documents", items), { charge, headers });
}

async function readChanges(
  context: CosmosContext,
  found: FoundContainer,
  { cursor, from, limit }: { cursor: string | undefined; from: Start["from"]; limit: number },
) {
  const query = cursor === undefined ? { limit, ...(from === undefined ? {} : { from }) } : { limit, cursor };
  try {
    return await context.state.containers.changes(context.caller, found.info.name, query);
  } catch (error) {
    if (cursor !== undefined && hasCode(error, "INVALID", "GONE", "NOT_FOUND"))
      throw new CosmosError(400, "Invalid Continuation Token", { cause: error });
    throw error;
  }
}

function startOf(context: CosmosContext): Start {
  const token = unquoted(context.header("if-none-match"));
  const since = context.header("if-modified-since");
  if (token !== undefined && token !== "*") {
    const [, at, cursor = token] = /^(\d+)~(.*)$/s.exec(token) ?? [];
    return { cursor, ...(at === undefined ? {} : { since: Number(at) }) };
  }
  if (since === undefined) return { from: token === "*" ? "now" : "oldest" };
  const at = Date.parse(since);
  if (Number.isNaN(at)) throw badRequest("If-Modified-Since: must be an HTTP date.");
  return { from: "oldest", since: at };
}

function filterOf(context: CosmosContext, found: FoundContainer): (change: ContainerChange) => boolean {
  const pk = context.partitionKey();
  const range = rangeOf(context, found);
  const key = keyOf(found);
  const begins = pk === undefined || pk.length === 0 ? undefined : JSON.stringify(pk);
  return ({ pk: values }) => {
    if (begins !== undefined && JSON.stringify(values.slice(0, pk?.length)) !== begins) return false;
    return range === undefined || within(range, effectiveKey(key, values));
  };
}
