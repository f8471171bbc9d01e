/** The rows of a query as a table: values of any type, in as many columns as fit. */
import { stripVTControlCharacters } from "node:util";
import type { JsonValue } from "@pinakes/client";
import { isJsonObject } from "../../domain/json.ts";
import { grid, oneLine, type Cell } from "./layout.ts";
import { styled, type Terminal } from "./terminal.ts";

/** Properties that the store adds to each document; omitted first. */
const systemNames: readonly string[] = ["_etag", "_ts"];

export function rowsText(terminal: Terminal, rows: readonly JsonValue[]): string {
  if (!rows.every(isJsonObject)) return rows.map((row) => oneLine(textOf(row))).join("\n");
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (names.length === 0) return rows.map(() => "{}").join("\n");
  const inOrder = names.toSorted((a, b) => rank(a) - rank(b));
  const cells = rows.map((row) => Object.fromEntries(inOrder.map((name) => [name, cellOf(row[name])])));
  const filled = inOrder.filter((name) => cells.some((row) => row[name] !== ""));
  const table = grid(terminal, cells, { whole: isShort(cells) ? ["id"] : [], optional: filled.slice(1) });
  const missing = filled.slice(columnsShown(table));
  return missing.length === 0 ? table : `${table}\n\n${styled(terminal, "dim", oneLine(notShown(missing)))}`;
}

/** Long ids would leave no room for anything else. */
function isShort(cells: readonly Readonly<Record<string, Cell>>[]): boolean {
  return cells.every(({ id = "" }) => String(id).length <= idCharsShown);
}

const idCharsShown = 40;

/** Identifying columns come first, the rest in row order. */
function rank(name: string): number {
  if (name === "id") return 0;
  return systemNames.includes(name) ? 2 : 1;
}

const namesMax = 8;

function notShown(names: readonly string[]): string {
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : "";
  return `Not shown: ${names.slice(0, namesMax).join(", ")}${more}. Select the columns you need, or use --json.`;
}

/** Columns are separated by two spaces; those that do not fit are omitted from the end. */
function columnsShown(table: string): number {
  const [head = ""] = table.split("\n");
  return stripVTControlCharacters(head).trim().split(/ {2,}/).length;
}

function cellOf(value: JsonValue | undefined): Cell {
  if (value === undefined) return "";
  return typeof value === "number" ? value : textOf(value);
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
