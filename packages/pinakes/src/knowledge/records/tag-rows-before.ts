/** Backfills tag rows for collections from before there were tag rows: once per workspace, on its first query by tag. */
import type { Scope } from "../../domain/scope.ts";
import { knowledgeTenant } from "./work-registry.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { collectionsContainer, itemIds, type CollectionRecord } from "./records.ts";
import { TagRows } from "./tag-rows.ts";

type Dependencies = Pick<KnowledgeDependencies, "items" | "system">;

/** Not a valid repository id. */
const partition = "~tag-rows";
const rememberedMax = 10_000;
const known = new WeakMap<Dependencies["items"], Set<string>>();

export async function requireTagRows(deps: Dependencies, scope: Scope): Promise<void> {
  const done = known.get(deps.items) ?? new Set<string>();
  known.set(deps.items, done);
  if (done.has(scope.tenant)) return;
  const system = deps.system.forTenant(knowledgeTenant);
  const id = scope.tenant;
  if ((await deps.items.read(system, collectionsContainer.name, { partition: [partition], id })) === undefined) {
    await fill(deps, scope);
    await deps.items.write(system, collectionsContainer.name, [partition], {
      op: "upsert",
      document: { id, repository_id: partition, kind: "tag-rows" },
    });
  }
  if (done.size >= rememberedMax) done.clear();
  done.add(scope.tenant);
}

async function fill({ items }: Dependencies, scope: Scope): Promise<void> {
  const rows = new TagRows(items);
  let cursor: string | undefined;
  do {
    const page = await items.query(scope, collectionsContainer.name, {
      index: "allByCreated",
      equals: { kind: "collection" },
      limit: 200,
      cursor,
    });
    for (const { document } of page.items) {
      const record = document as unknown as CollectionRecord;
      const { tags } = record.metadata;
      if (tags.length === 0) continue;
      const keys = tags.map((tag) => ({ partition: [record.repository_id], id: itemIds.tag(tag, record.incarnation) }));
      const found = await items.readMany(scope, collectionsContainer.name, keys);
      await rows.add(
        scope,
        record,
        tags.filter((_, i) => found[i] === undefined),
      );
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}
