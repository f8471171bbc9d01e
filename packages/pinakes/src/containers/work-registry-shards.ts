/**
 * How the entries of a registry are stored and read: spread over a few partitions of the system's own tenant by a hash of their name, so
 * that there is neither one hot partition nor one partition per tenant.
 */
import { hash } from "node:crypto";
import { invariant } from "../domain/invariant.ts";
import type { Scope } from "../domain/scope.ts";
import type { Item, ItemStore, Query } from "../ports/item-store.ts";
import { everyPage } from "./every-item.ts";

const shards = 8;
const pageItems = 500;

/** `kind`, `tenant` and `key` name the work. */
export interface WorkName<Kind extends string = string> {
  readonly kind: Kind;
  readonly tenant: string;
  readonly key: string;
}

/**
 * The id is `kind:tenant:key`. A key may contain colons; a kind is a constant of the program, and a tenant's name never has one: so the
 * first two colons end kind and tenant, and no two names have the same id.
 */
export function workPlace({ kind, tenant, key }: WorkName): { readonly shard: string; readonly id: string } {
  invariant(
    kind !== "" && !kind.includes(":"),
    "INTERNAL",
    `The kind of work "${kind}" is empty or contains a colon; use another name.`,
  );
  invariant(
    tenant !== "" && !tenant.includes(":"),
    "INTERNAL",
    `Work of kind "${kind}" has the owner "${tenant}", which is not a valid tenant name.`,
  );
  const id = `${kind}:${tenant}:${key}`;
  return { shard: String((hash("sha256", id, "buffer")[0] as number) % shards), id };
}

/** The results of the query in each shard, one shard after the other, to the end. */
export async function* acrossShards(
  items: ItemStore,
  scope: Scope,
  container: string,
  query: (shard: string) => Omit<Query, "limit" | "cursor">,
): AsyncGenerator<Item> {
  for (let shard = 0; shard < shards; shard += 1) {
    const asked = query(String(shard));
    for await (const page of everyPage(items, scope, container, { ...asked, limit: pageItems })) {
      yield* page.items;
    }
  }
}
