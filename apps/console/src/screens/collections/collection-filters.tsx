import { useQuery } from "@tanstack/react-query";
import { repositoriesOptions } from "../../api/collections.ts";
import { collectionsStrings } from "../../strings/collections.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { collectionFilters, collectionSorts, type CollectionsSearch } from "./routes.ts";

const { filters: s, statuses, orders } = collectionsStrings;

interface Props {
  readonly search: CollectionsSearch;
  readonly onChange: (next: Partial<CollectionsSearch>) => void;
}

export function CollectionFilters({ search: { q, tag, repository, status, sort, order }, onChange }: Props) {
  const repositories = useQuery(repositoriesOptions).data?.items ?? [];
  const known = repositories.map(({ repository_id, name }) => ({ value: repository_id, label: name }));
  // A repository of the URL that is not on the first page of repositories is an option, too.
  const missing =
    repository !== undefined && known.every(({ value }) => value !== repository)
      ? [{ value: repository, label: repository }]
      : [];
  const filtered = [q, tag, repository, status].some((one) => one !== undefined);
  return (
    <form
      role="search"
      aria-label={s.label}
      className="grid grid-cols-2 items-end gap-2 sm:flex sm:flex-wrap"
      onSubmit={(event) => event.preventDefault()}
    >
      <FilterField label={s.q} value={q} className="col-span-2 sm:w-64" onFilter={(next) => onChange({ q: next })} />
      <FilterField label={s.tag} value={tag} className="sm:w-28" onFilter={(next) => onChange({ tag: next })} />
      <Select
        label={s.repository}
        className="sm:w-40"
        value={repository ?? ""}
        choices={[{ value: "", label: s.all }, ...known, ...missing]}
        onChoose={(next) => onChange({ repository: next === "" ? undefined : next })}
      />
      <Select
        label={s.status}
        className="sm:w-44"
        value={status ?? "live"}
        choices={collectionFilters.map((value) => ({ value, label: statuses[value] }))}
        onChoose={(next) => onChange({ status: next === "live" ? undefined : next })}
      />
      <Select
        label={s.order}
        className="sm:w-44"
        value={`${sort ?? "created_at"} ${order ?? (sort === undefined ? "desc" : "asc")}`}
        choices={sortChoices}
        onChoose={(next) => onChange(sortOf(next))}
      />
      {filtered && (
        <Button
          look="quiet"
          onClick={() => onChange({ q: undefined, tag: undefined, repository: undefined, status: undefined })}
        >
          {s.clear}
        </Button>
      )}
    </form>
  );
}

const sortChoices = Object.entries(orders).map(([value, label]) => ({ value, label }));

/** Omits the default order from the URL. */
function sortOf(choice: string): Pick<CollectionsSearch, "sort" | "order"> {
  const [name, order] = choice.split(" ");
  const sort = collectionSorts.find((one) => one === name);
  return choice === "created_at desc"
    ? { sort: undefined, order: undefined }
    : { sort, order: order === "desc" ? "desc" : "asc" };
}
