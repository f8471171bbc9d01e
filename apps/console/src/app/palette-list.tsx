import { Autocomplete } from "@base-ui/react/autocomplete";
import type { Page } from "@pinakes/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { get } from "../api/request.ts";
import { shellStrings } from "../strings/shell.ts";
import { inputClass } from "../ui/field.tsx";
import { ShownName } from "../ui/name.tsx";
import { useNavigation } from "./navigation.ts";

const s = shellStrings.palette;
const collectionsMax = 50;

interface Place {
  readonly value: string;
  readonly label: string;
  readonly group: string;
  readonly href: string;
}

export default function PaletteList({ onChosen }: { readonly onChosen: () => void }) {
  const router = useRouter();
  const [typed, setTyped] = useState("");
  const places = usePlaces(typed.trim());
  const go = (place: Place) => {
    onChosen();
    void router.navigate({ href: place.href });
  };
  return (
    <Autocomplete.Root
      inline
      open
      items={places}
      filter={null}
      value={typed}
      onValueChange={setTyped}
      itemToStringValue={(place: Place) => place.label}
      autoHighlight
    >
      <Autocomplete.Input className={inputClass} placeholder={s.placeholder} aria-label={s.placeholder} autoFocus />
      <Autocomplete.Empty>
        <p className="p-4 text-center text-sm text-soft">{s.nothing}</p>
      </Autocomplete.Empty>
      <Autocomplete.List className="mt-2 max-h-80 overflow-auto">
        {(place: Place) => (
          <Autocomplete.Item
            key={place.value}
            value={place}
            onClick={() => go(place)}
            className="flex cursor-default items-center gap-2 rounded px-2 py-2 text-sm outline-hidden select-none data-highlighted:bg-raised"
          >
            <span className="min-w-0 flex-1 truncate">
              <ShownName of={place.label} />
            </span>
            <span className="text-xs text-soft">{place.group}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

interface Named {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly name: string;
}

/** Pages are matched here, collections by the server: there may be any number. */
function usePlaces(typed: string): readonly Place[] {
  const q = useDeferredValue(typed);
  const collections = useQuery({
    queryKey: ["collections", "palette", q],
    queryFn: ({ signal }) => get<Page<Named>>("/v1/collections", { query: { q, limit: collectionsMax }, signal }),
    placeholderData: keepPreviousData,
  });
  const wanted = typed.toLowerCase();
  const navigation = useNavigation();
  const pages = navigation.flatMap(({ label, entries }) =>
    entries.map((entry): Place => ({
      value: entry.to,
      label: entry.label,
      group: label ?? shellStrings.product,
      href: entry.to,
    })),
  );
  const found = collections.data?.items ?? [];
  return [
    ...pages.filter(({ label }) => label.toLowerCase().includes(wanted)),
    ...found.map(({ repository_id: rid, collection_id: cid, name }): Place => {
      const href = `/collections/${encodeURIComponent(rid)}/${encodeURIComponent(cid)}`;
      return { value: href, label: name, group: shellStrings.pages.collections, href };
    }),
  ];
}
