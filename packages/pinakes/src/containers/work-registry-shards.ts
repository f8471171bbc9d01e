/**
 * Where entries of a registry lie, and how all of them are read: spread over a few partitions of the system's own tenant by a hash of
 * their name, so that neither one partition nor a hundred thousand tenants stand in anybody's way.
 */
import { hash } from "node:crypto";
import { invariant } from "../domain/invariant.ts";
import type { Scope } from "../domain/scope.ts";
import type { Item, ItemStore, Query } from "../ports/item-store.ts";

const shards = 8;
const pageItems = 500;

/** `kind`, `tenant` and `key` name the work. */
export interface WorkName<Kind extends string = string> {
  readonly kind: Kind;
  readonly tenant: string;
  readonly key: string;
}

/**
 * The id is `kind:tenant:key`. A key may hold colons; a kind is a word of the program, and the name of a tenant never has one: so the
 * first two colons end kind and tenant, and no two names have one id.
 */
export function workPlace({ kind, tenant, key }: WorkName): { readonly shard: string; readonly id: string } {
  invariant(
    kind !== "" && !kind.includes(":"),
    "INTERNAL",
    `The kind of work "${kind}" is empty or has a colon; name it otherwise.`,
  );
  invariant(
    tenant !== "" && !tenant.includes(":"),
    "INTERNAL",
    `Work of kind "${kind}" is to be registered for "${tenant}", which is no name of a tenant.`,
  );
  const id = `${kind}:${tenant}:${key}`;
  return { shard: String((hash("sha256", id, "buffer")[0] as number) % shards), id };
}

/** What the query finds in each shard, one shard after the other, to its end. */
export async function* acrossShards(
  items: ItemStore,
  scope: Scope,
  container: string,
  query: (shard: string) => Omit<Query, "limit" | "cursor">,
): AsyncGenerator<Item> {
  for (let shard = 0; shard < shards; shard += 1) {
    const asked = query(String(shard));
    for (let cursor: string | undefined; ;) {
      const page = await items.query(scope, container, { ...asked, limit: pageItems, cursor });
      yield* page.items;
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
  }
}
