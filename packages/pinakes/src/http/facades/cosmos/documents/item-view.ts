/** An item as Cosmos DB's clients see it: the document, then what the system adds to it. */
import type { StoredDocument } from "@pinakes/client";
import type { JsonObject } from "../../../../domain/json.ts";
import { partitionAt } from "../../../../domain/partition-value.ts";
import { parsePath, type Path } from "../../../../domain/path.ts";
import type { Item } from "../../../../ports/item-store.ts";
import type { FoundContainer } from "../../../../state/index.ts";
import { quoted } from "../context.ts";
import { containerBytes, databaseRid, itemRid } from "../rid.ts";

export interface ItemView {
  readonly stored: (document: StoredDocument) => JsonObject;
  readonly item: (item: Pick<Item, "document" | "etag" | "modifiedAt">) => JsonObject;
}

/** Of containers that requests share, which Databases keeps for a few seconds. */
const views = new WeakMap<FoundContainer, ItemView>();

export function itemView(found: FoundContainer): ItemView {
  const known = views.get(found);
  if (known !== undefined) return known;
  const view = createView(found);
  views.set(found, view);
  return view;
}

function createView({ database, entry, info }: FoundContainer): ItemView {
  const bytes = containerBytes(database, entry);
  const container = bytes.toString("base64").replaceAll("/", "-");
  const parent = `dbs/${databaseRid(database)}/colls/${container}`;
  const paths: readonly Path[] = [info.partition_key].flat().map(parsePath);
  const view = (document: JsonObject, etag: string, seconds: number): JsonObject => {
    const rid = itemRid(bytes, JSON.stringify(partitionAt(document, paths)), document["id"] as string);
    return {
      ...document,
      _rid: rid,
      _self: `${parent}/docs/${rid}/`,
      _etag: quoted(etag),
      _attachments: "attachments/",
      _ts: seconds,
    };
  };
  return {
    stored: ({ _etag, _ts, ...document }) => view(document, _etag, _ts),
    item: ({ document, etag, modifiedAt }) => view(document, etag, Math.floor(modifiedAt / 1_000)),
  };
}
