import type { Collection, Key, Repository } from "@pinakes/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { collectionsOptions, repositoriesOptions } from "../../api/collections.ts";
import { keysOptions } from "../../api/keys.ts";
import { moreOf } from "../../api/page.ts";
import { formatNumber } from "../../lib/format.ts";
import { accessStrings } from "../../strings/access.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";

const s = accessStrings.groups;

/** From keys and collections: the server has no list of groups. */
const lookedAtMax = 1_000;

const columns: readonly Column<NamedGroup>[] = [
  {
    id: "group",
    header: s.columns.group,
    width: "minmax(10rem,1fr)",
    cell: ({ group }) => <span className="truncate font-medium">{group}</span>,
  },
  { id: "users", header: s.columns.users, width: "minmax(10rem,1fr)", cell: ({ users }) => <Names of={users} /> },
  {
    id: "repositories",
    header: s.columns.repositories,
    width: "minmax(10rem,1fr)",
    cell: ({ repositories }) => <Names of={repositories} />,
  },
  {
    id: "collections",
    header: s.columns.collections,
    width: "minmax(10rem,1fr)",
    cell: ({ collections }) => <Names of={collections} />,
  },
];

export function GroupsTab() {
  const keys = useAll(useInfiniteQuery(keysOptions));
  const collections = useAll(useInfiniteQuery(collectionsOptions()));
  const repositories = useQuery(repositoriesOptions);
  const sources = [keys, collections, repositories];
  const failed = sources.find(({ error, data }) => error !== null && data === undefined);
  const cutOff = [keys, collections].map(moreOf).find(({ error }) => error !== undefined);
  const ready = keys.data !== undefined && collections.data !== undefined && repositories.data !== undefined;
  const groups = ready
    ? namedGroups({ keys: keys.data.items, repositories: repositories.data.items, collections: collections.data.items })
    : undefined;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-soft">{s.about}</p>
      <DataTable
        label={s.table}
        columns={columns}
        items={groups}
        rowId={({ group }) => group}
        error={failed?.error}
        onRetry={() => void failed?.refetch()}
        empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
        {...(cutOff === undefined ? {} : { more: cutOff })}
      />
      {cutOff === undefined && (keys.hasNextPage || collections.hasNextPage) && (
        <p className="text-sm text-soft">{s.cut(formatNumber(lookedAtMax))}</p>
      )}
    </div>
  );
}

interface Paged {
  readonly data: { readonly items: readonly unknown[] } | undefined;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isError: boolean;
  readonly fetchNextPage: () => unknown;
}

/** Loads all pages up to the limit. */
function useAll<List extends Paged>(list: List): List {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = list;
  const wanted = hasNextPage && !isFetching && !isError && (data?.items.length ?? 0) < lookedAtMax;
  useEffect(() => {
    if (wanted) fetchNextPage();
  }, [wanted, fetchNextPage]);
  return list;
}

function Names({ of }: { readonly of: readonly string[] }) {
  const text = of.join(", ");
  return (
    <span className="truncate" title={text}>
      {text === "" ? "–" : text}
    </span>
  );
}

interface NamedGroup {
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
