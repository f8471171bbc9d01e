/** Columns for documents of any shape: the scalar fields of the first ones. */
import type { JsonObject, JsonValue } from "@pinakes/client";
import { containerStrings } from "../../strings/containers.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Ago } from "../../ui/time.tsx";
import { isObject, valueAt } from "./partition-key.ts";

const s = containerStrings.items;
const looked = 50;
const moreColumnsMax = 5;
const charactersMax = 200;

/** System fields that are not useful in a table. */
const hidden = new Set(["id", "_etag", "_ts", "workspace_id"]);

export function itemColumns(items: readonly JsonObject[], paths: readonly string[]): readonly Column<JsonObject>[] {
  const topLevel = new Set(paths.map((path) => path.slice(1)));
  const names = namesOf(items).filter((name) => !topLevel.has(name));
  return [
    {
      id: "id",
      header: s.id,
      width: "minmax(12rem,1fr)",
      cell: ({ id }) => <code className="truncate font-mono text-xs">{cellText(id)}</code>,
    },
    ...paths.map((path): Column<JsonObject> => ({
      id: path,
      header: path,
      width: "minmax(8rem,14rem)",
      cell: (item) => <span className="truncate">{cellText(valueAt(item, path))}</span>,
    })),
    ...names.map(fieldColumn),
    {
      id: "changed",
      header: s.changed,
      width: "8rem",
      cell: ({ _ts }) => typeof _ts === "number" && <Ago at={_ts * 1_000} />,
    },
  ];
}

/** Columns for any query result. */
export function resultColumns(items: readonly JsonValue[]): readonly Column<{ readonly value: JsonValue }>[] {
  const objects = items.filter(isObject);
  const names = [...new Set(objects.slice(0, looked).flatMap((item) => Object.keys(item)))].filter(
    (name) => name === "id" || !hidden.has(name),
  );
  if (names.length === 0) {
    return [
      {
        id: "value",
        header: containerStrings.query.value,
        cell: ({ value }) => <span className="truncate">{cellText(value)}</span>,
      },
    ];
  }
  return names.map((name) => ({
    id: name,
    header: name,
    width: "minmax(8rem,1fr)",
    cell: ({ value }) => <span className="truncate">{cellText(isObject(value) ? value[name] : value)}</span>,
  }));
}

function namesOf(items: readonly JsonObject[]): readonly string[] {
  const simple = items
    .slice(0, looked)
    .flatMap((item) => Object.keys(item).filter((name) => !hidden.has(name) && !isList(item[name])));
  return [...new Set(simple)].slice(0, moreColumnsMax);
}

function isList(value: JsonValue | undefined): boolean {
  return typeof value === "object" && value !== null;
}

function fieldColumn(name: string): Column<JsonObject> {
  return {
    id: `field ${name}`,
    header: name,
    width: "minmax(7rem,1fr)",
    cell: (item) => <span className="truncate text-soft">{cellText(item[name])}</span>,
  };
}

function cellText(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > charactersMax ? `${text.slice(0, charactersMax)} …` : text;
}
