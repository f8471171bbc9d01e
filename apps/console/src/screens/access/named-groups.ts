import type { Collection, Key, Repository } from "@pinakes/client";

export interface NamedGroup {
  readonly group: string;
  readonly users: readonly string[];
  readonly repositories: readonly string[];
  readonly collections: readonly string[];
}

interface Seen {
  readonly keys: readonly Pick<Key, "user_id" | "groups">[];
  readonly repositories: readonly Pick<Repository, "name" | "allowed_groups">[];
  readonly collections: readonly Pick<Collection, "name" | "allowed_groups">[];
}

export function namedGroups({ keys, repositories, collections }: Seen): readonly NamedGroup[] {
  const found = new Map<string, { users: Set<string>; repositories: string[]; collections: string[] }>();
  const at = (group: string) => {
    const named = found.get(group) ?? { users: new Set(), repositories: [], collections: [] };
    found.set(group, named);
    return named;
  };
  for (const { user_id, groups } of keys) for (const group of groups) at(group).users.add(user_id);
  for (const { name, allowed_groups } of repositories)
    for (const group of allowed_groups ?? []) at(group).repositories.push(name);
  for (const { name, allowed_groups } of collections)
    for (const group of allowed_groups ?? []) at(group).collections.push(name);
  return [...found]
    .map(([group, named]) => ({
      group,
      users: [...named.users],
      repositories: named.repositories,
      collections: named.collections,
    }))
    .toSorted((a, b) => a.group.localeCompare(b.group));
}
