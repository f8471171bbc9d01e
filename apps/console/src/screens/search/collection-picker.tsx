/** Collections by name: the server searches, so there may be any number. */
import { Combobox } from "@base-ui/react/combobox";
import type { Collection, Page } from "@pinakes/client";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { Check, ChevronDown, X } from "lucide-react";
import { useDeferredValue, useId, useState, type ReactNode } from "react";
import { collectionOfRef, refOf } from "../../api/collection-ref.ts";
import { collectionOptions, type CollectionId } from "../../api/collections.ts";
import { labelOf } from "../../api/collection-names.ts";
import { get } from "../../api/request.ts";
import { searchStrings } from "../../strings/search.ts";
import { cx } from "../../lib/class-names.ts";
import { ShownName } from "../../ui/name.tsx";
import { messageOf } from "../../ui/states.tsx";

const s = searchStrings.collections;
const shownMax = 50;
const boxClass =
  "flex min-h-9 w-full min-w-0 flex-wrap items-center gap-1 rounded-md border bg-panel px-2 text-sm focus-within:outline-2 focus-within:outline-brand";
const inputPart = "h-8 min-w-24 flex-1 bg-transparent outline-hidden placeholder:text-soft";

interface Choice {
  readonly ref: string;
  readonly name: string;
  readonly place: string;
}

interface PickManyProps {
  readonly label: string;
  readonly refs: readonly string[];
  readonly onChoose: (refs: readonly string[]) => void;
}

export function CollectionsPicker({ label, refs, onChoose }: PickManyProps) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const { choices, status } = useChoices(typed);
  const chosen = useChosen(refs, choices);
  return (
    <Combobox.Root
      multiple
      items={choices}
      filter={null}
      value={chosen}
      isItemEqualToValue={(a: Choice, b: Choice) => a.ref === b.ref}
      itemToStringLabel={(one: Choice) => one.name}
      inputValue={typed}
      onInputValueChange={setTyped}
      onValueChange={(next, { reason }) => {
        // Escape closes the list without clearing the selection.
        if (reason !== "escape-key") onChoose(next.map(({ ref }) => ref));
      }}
    >
      <Labelled id={id} label={label}>
        <Combobox.Chips className={boxClass}>
          {chosen.map((one) => (
            <Combobox.Chip
              key={one.ref}
              aria-label={one.name}
              className="flex min-w-0 items-center gap-1 rounded bg-brand-soft pl-1.5 text-xs text-brand"
            >
              <span className="max-w-48 truncate" title={one.place}>
                <ShownName of={one.name} />
              </span>
              <Combobox.ChipRemove className="rounded p-1 hover:bg-raised" aria-label={s.remove(one.name)}>
                <X className="size-3" aria-hidden />
              </Combobox.ChipRemove>
            </Combobox.Chip>
          ))}
          <Combobox.Input id={id} placeholder={refs.length === 0 ? s.all : ""} className={inputPart} />
        </Combobox.Chips>
      </Labelled>
      <Choices status={status} />
    </Combobox.Root>
  );
}

interface PickOneProps {
  readonly label: string;
  readonly value: CollectionId | undefined;
  readonly onChoose: (id: CollectionId) => void;
  readonly className?: string;
}

export function CollectionPicker({ label, value, onChoose, className }: PickOneProps) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const { choices, status } = useChoices(typed ?? "");
  const ref = value === undefined ? undefined : refOf(value);
  const chosen = useChosen(ref === undefined ? [] : [ref], choices)[0] ?? null;
  return (
    <Combobox.Root
      items={choices}
      filter={null}
      value={chosen}
      isItemEqualToValue={(a: Choice, b: Choice) => a.ref === b.ref}
      itemToStringLabel={(one: Choice) => one.name}
      // Shows the selection until the user types.
      inputValue={typed ?? chosen?.name ?? ""}
      onInputValueChange={(next, { reason }) =>
        setTyped(reason === "input-change" || reason === "input-clear" ? next : undefined)
      }
      onOpenChange={(open) => (open ? undefined : setTyped(undefined))}
      onValueChange={(next) => {
        const found = next === null ? undefined : collectionOfRef(next.ref);
        if (found !== undefined) onChoose(found);
      }}
    >
      <Labelled id={id} label={label} {...(className === undefined ? {} : { className })}>
        <Combobox.InputGroup className={boxClass}>
          <Combobox.Input id={id} placeholder={s.one} className={inputPart} />
          <Combobox.Trigger aria-label={s.open} className="rounded p-1 text-soft hover:bg-raised">
            <ChevronDown className="size-4" aria-hidden />
          </Combobox.Trigger>
        </Combobox.InputGroup>
      </Labelled>
      <Choices status={status} />
    </Combobox.Root>
  );
}

function Labelled({
  id,
  label,
  className,
  children,
}: {
  readonly id: string;
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <div className={cx("flex min-w-0 flex-col gap-1", className)}>
      <label htmlFor={id} className="text-xs font-medium text-soft">
        {label}
      </label>
      {children}
    </div>
  );
}

function Choices({ status }: { readonly status: string | undefined }) {
  return (
    <Combobox.Portal>
      <Combobox.Positioner className="z-50 outline-hidden" sideOffset={4}>
        <Combobox.Popup className="max-h-80 w-[max(var(--anchor-width),16rem)] max-w-[var(--available-width)] overflow-auto rounded-md border bg-panel p-1 text-ink shadow-lg">
          <Combobox.Status className="text-sm text-soft">
            {status !== undefined && <p className="p-2">{status}</p>}
          </Combobox.Status>
          <Combobox.List>
            {(one: Choice) => (
              <Combobox.Item
                key={one.ref}
                value={one}
                className="grid cursor-default grid-cols-[1rem_minmax(0,1fr)] items-center gap-2 rounded px-2 py-1.5 text-sm outline-hidden select-none data-highlighted:bg-raised"
              >
                <Combobox.ItemIndicator className="col-start-1">
                  <Check className="size-4" aria-hidden />
                </Combobox.ItemIndicator>
                <span className="col-start-2 min-w-0">
                  <span className="block truncate">
                    <ShownName of={one.name} />
                  </span>
                  <span className="block truncate text-xs text-soft">{one.place}</span>
                </span>
              </Combobox.Item>
            )}
          </Combobox.List>
        </Combobox.Popup>
      </Combobox.Positioner>
    </Combobox.Portal>
  );
}

function useChoices(typed: string): { readonly choices: readonly Choice[]; readonly status: string | undefined } {
  const q = useDeferredValue(typed.trim());
  const { data, error, isFetching } = useQuery({
    queryKey: ["collections", "choices", q],
    queryFn: ({ signal }) => get<Page<Collection>>("/v1/collections", { query: { q, limit: shownMax }, signal }),
    placeholderData: keepPreviousData,
  });
  const choices = (data?.items ?? []).map(choiceOf);
  if (error !== null) return { choices, status: messageOf(error) };
  if (data === undefined || (isFetching && choices.length === 0)) return { choices, status: s.loading };
  if (choices.length === 0) return { choices, status: s.none };
  return { choices, status: typeof data.next_cursor === "string" ? s.more(shownMax) : undefined };
}

/** Collections of the URL: fetched if they are not among the options, to show their names. */
function useChosen(refs: readonly string[], choices: readonly Choice[]): readonly Choice[] {
  const known = new Map(choices.map((one) => [one.ref, one]));
  const asked = useQueries({
    queries: refs.flatMap((ref) => {
      const id = known.has(ref) ? undefined : collectionOfRef(ref);
      return id === undefined ? [] : [collectionOptions(id)];
    }),
  });
  for (const { data } of asked) if (data !== undefined) known.set(choiceOf(data).ref, choiceOf(data));
  return refs.map((ref) => known.get(ref) ?? unnamed(ref));
}

function choiceOf(one: Collection): Choice {
  return { ref: refOf({ rid: one.repository_id, cid: one.collection_id }), name: one.name, place: labelOf(one) };
}

/** Loading, or not found. */
function unnamed(ref: string): Choice {
  const id = collectionOfRef(ref);
  return { ref, name: id?.cid ?? ref, place: id === undefined ? ref : `${id.rid} / ${id.cid}` };
}
