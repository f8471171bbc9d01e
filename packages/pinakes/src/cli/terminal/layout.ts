/** Layout for a terminal: tables that fit its width, lists of fields, wrapped text, and formatted numbers. */
import { columnsOf, cutToColumns, printable, styled, type Terminal } from "./terminal.ts";

type Look = Pick<Terminal, "columns" | "color">;
export type Cell = string | number;

const gap = "  ";
/** Minimum column width; if that does not fit either, lines are longer than the terminal. */
const cellColumnsMin = 10;

export interface GridOptions {
  /** Columns that are never truncated, such as ids to copy. */
  readonly whole?: readonly string[] | undefined;
  /** Columns that are omitted, the last first, if there is not enough room. */
  readonly optional?: readonly string[] | undefined;
}

/** Columns from the fields of the first row, without empty ones; numbers right-aligned. If it is too wide, the widest are truncated. */
export function grid(look: Look, rows: readonly Readonly<Record<string, Cell>>[], options: GridOptions = {}): string {
  const columns = fitted(columnsOfRows(rows, options), look.columns ?? Infinity, options);
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) =>
        padded(cutToColumns(text, columns[i]?.width ?? 0), columns[i]?.width ?? 0, columns[i]?.isNumber ?? false),
      )
      .join(gap)
      .trimEnd();
  return [
    styled(look, "dim", line(columns.map(({ name }) => name))),
    ...rows.map((row) => line(columns.map(({ name }) => cellText(row[name])))),
  ].join("\n");
}

interface Column {
  readonly name: string;
  readonly width: number;
  readonly least: number;
  readonly isNumber: boolean;
}

function columnsOfRows(
  rows: readonly Readonly<Record<string, Cell>>[],
  { whole = [] }: GridOptions,
): readonly Column[] {
  const names = Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => row[name] !== ""));
  return names.map((name) => {
    const width = rows.reduce((most, row) => Math.max(most, columnsOf(cellText(row[name]))), columnsOf(name));
    const isNumber = rows.every((row) => typeof row[name] === "number");
    return { name, width, isNumber, least: isNumber || whole.includes(name) ? width : Math.min(width, cellColumnsMin) };
  });
}

function cellText(cell: Cell | undefined): string {
  return oneLine(String(cell ?? ""));
}

/** First omits the optional ones as needed; then shrinks the widest until all fit. */
function fitted(all: readonly Column[], columnsMax: number, { optional = [] }: GridOptions): readonly Column[] {
  let columns = all;
  const room = () => columnsMax - gap.length * (columns.length - 1);
  for (const name of optional.toReversed()) {
    if (columns.reduce((sum, { least }) => sum + least, 0) <= room()) break;
    columns = columns.filter((column) => column.name !== name);
  }
  const widths = columns.map(({ width }) => width);
  let over = widths.reduce((sum, width) => sum + width, 0) - room();
  while (over > 0) {
    const widest = Math.max(...widths.filter((width, i) => width > (columns[i]?.least ?? 0)));
    if (!Number.isFinite(widest)) break;
    const at = widths.findIndex((width, i) => width === widest && width > (columns[i]?.least ?? 0));
    widths[at] = widest - 1;
    over -= 1;
  }
  return columns.map((column, i) => ({ ...column, width: widths[i] as number }));
}

function padded(text: string, columns: number, toRight: boolean): string {
  const blank = " ".repeat(Math.max(0, columns - columnsOf(text)));
  return toRight ? blank + text : text + blank;
}

/** One field per line, values aligned; fields without a value are omitted. */
export function fields(look: Look, entries: Readonly<Record<string, Cell | undefined>>): string {
  const shown = Object.entries(entries).filter(
    (entry): entry is [string, Cell] => entry[1] !== undefined && entry[1] !== "",
  );
  const width = Math.max(0, ...shown.map(([name]) => columnsOf(name)));
  return shown
    .map(([name, value]) => `${styled(look, "dim", padded(name, width, false))}${gap}${oneLine(String(value))}`)
    .join("\n");
}

/** Breaks between words; a word longer than a line stays whole. */
export function wrapped(text: string, columnsMax: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of oneLine(text).split(" ")) {
    if (line !== "" && columnsOf(line) + 1 + columnsOf(word) > columnsMax) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}

export function oneLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, " ").trim();
}

export function inBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function inMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** To the second, in UTC. */
export function inTime(iso: string | null): string {
  return iso === null ? "" : `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}
