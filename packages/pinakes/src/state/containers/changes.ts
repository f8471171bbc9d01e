/** The change feed of a container as callers see it: without system items, with system fields in every document. */
import type { ChangesPage, ChangesQuery, ContainerChange } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Change, ItemStore } from "../../ports/item-store.ts";
import { reservedIdPrefix } from "../system-container.ts";
import { storedView } from "./documents.ts";
import type { Target } from "./target.ts";

export async function readChanges(
  items: ItemStore,
  scope: Scope,
  target: Target,
  query: ChangesQuery,
): Promise<ChangesPage> {
  const { cursor, limit, from, mode = "latest" } = query;
  if (mode !== "latest" && mode !== "all") throw invalid(`mode: must be "latest" or "all", got ${show(mode)}.`);
  if (from !== undefined && from !== "oldest" && from !== "now")
    throw invalid(`from: must be "oldest" or "now", got ${show(from)}.`);
  if (target.definition.feed !== true)
    throw new PinakesError(
      "NOT_SUPPORTED",
      `Container "${target.name}" keeps no change feed; query it by time instead.`,
    );
  const page = await items.changes(scope, target.definition.name, {
    cursor,
    limit,
    from,
  });
  return {
    items: page.changes.filter((change) => isShown(target, change, mode)).map((change) => viewOf(target, change)),
    cursor: page.cursor,
    more: page.more,
  };
}

/** A put without its document was replaced by a later change, which follows: `latest` reports that one. */
function isShown({ system }: Target, { id, document }: Change, mode: "latest" | "all"): boolean {
  if (system !== undefined && id.startsWith(reservedIdPrefix)) return false;
  return document !== undefined || mode === "all";
}

function viewOf(target: Target, { kind, id, partition, etag, at, expired, document }: Change): ContainerChange {
  return {
    kind,
    id,
    pk: partition,
    etag,
    at: new Date(at).toISOString(),
    ...(expired === true ? { time_to_live_expired: true } : {}),
    ...(document === undefined ? {} : { document: storedView(target, { document, etag, modifiedAt: at }) }),
  };
}
