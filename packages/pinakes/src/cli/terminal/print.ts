/** Formats results for a terminal. */

/** Columns from the fields of the first row. */
export function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => textOf(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Nested fields, indented; no quotes and braces. */
export function readable(value: unknown, indent = ""): string {
  if (Array.isArray(value))
    return value.length === 0 ? `${indent}none` : value.map((entry) => item(entry, indent)).join("\n");
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return `${indent}${textOf(value)}`;
  return Object.entries(value)
    .filter(([, entry]) => entry !== undefined)
    .map(([name, entry]) =>
      isNested(entry)
        ? `${indent}${name}\n${readable(entry, `${indent}  `)}`
        : `${indent}${name}  ${textOf(isTime(name, entry) ? new Date(entry as number).toISOString() : entry)}`,
    )
    .join("\n");
}

function isTime(name: string, value: unknown): boolean {
  return name.endsWith("At") && typeof value === "number";
}

function item(entry: unknown, indent: string): string {
  if (!isNested(entry)) return `${indent}- ${textOf(entry)}`;
  return `${indent}- ${readable(entry, `${indent}  `).trimStart()}`;
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && Object.keys(value).length > 0;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return "none";
  return JSON.stringify(value) ?? "";
}
