/**
 * What a source supports, shard by shard, read from the partitions themselves. A position is the number of a shard and the item store's own
 * cursor in it. A support contains only the id of its quad, which is in the same partition.
 */
import type { Quad } from "../../domain/rdf.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { badCursor } from "../space-errors.ts";
import type { SourceRequest, SourceResult, SourceRow } from "../triple-engine.ts";
import { readPage } from "./match.ts";
import { quadOf, shardsPerSpace, sourcePrefix, type StoredSupport } from "./quad-items.ts";
import { Shard } from "./shard.ts";

interface SourceCursor {
  readonly shard: number;
  /** If absent, starts at the beginning. */
  readonly cursor?: string | undefined;
}

export async function rowsOfSource(
  items: ItemStore,
  scope: Scope,
  space: string,
  { source, after, limit }: SourceRequest,
): Promise<SourceResult> {
  const rows: SourceRow[] = [];
  let examined = 0;
  let place: SourceCursor = after === undefined ? { shard: 0 } : parsePlace(after);
  while (place.shard < shardsPerSpace && examined < limit) {
    const { shard, cursor } = place;
    const range = { equals: { space, shard }, range: { prefix: sourcePrefix(source) } };
    const page = await readPage(items, scope, range, limit - examined, cursor);
    examined += page.examined;
    const supports = page.items.map(({ document }) => document as unknown as StoredSupport);
    const quads = await readQuads(new Shard(items, scope, space, shard), new Set(supports.map(({ quad }) => quad)));
    for (const [i, { quad: id, part }] of supports.entries()) {
      const quad = quads.get(id);
      if (quad !== undefined) rows.push({ quad, part, place: placeText({ shard, cursor: page.after(i) }) });
    }
    place = page.cursor === undefined ? { shard: shard + 1 } : { shard, cursor: page.cursor };
  }
  return { rows, next: place.shard < shardsPerSpace ? placeText(place) : undefined, examined };
}

/** Without quads that were removed since their support was read. */
async function readQuads(shard: Shard, ids: ReadonlySet<string>): Promise<Map<string, Quad>> {
  const quads = new Map<string, Quad>();
  for (const item of await shard.read([...ids])) if (item !== undefined) quads.set(item.id, quadOf(item.document));
  return quads;
}

function placeText({ shard, cursor = "" }: SourceCursor): string {
  return `${shard}:${cursor}`;
}

function parsePlace(text: string): SourceCursor {
  const [, shard = "", cursor = ""] = /^(\d):(.*)$/s.exec(text) ?? [];
  if (shard === "" || Number(shard) >= shardsPerSpace) throw badCursor();
  return cursor === "" ? { shard: Number(shard) } : { shard: Number(shard), cursor };
}
