/**
 * An export: a header line, with the signed checkpoint and the hashes around its entries, then one line per entry. Every byte is covered by
 * the checkpoint's signature, so any change is detected (RFC 0013).
 */
import { z } from "zod";
import type { AuditFormat } from "@pinakes/client";
import { readLeaf, type LeafEntry } from "./entry.ts";
import { leafHash } from "./merkle.ts";

export const exportFormat = "pinakes-audit-export/1";

const Header = z.strictObject({
  format: z.literal(exportFormat),
  keys: z.array(z.string()).min(1),
  /** A signed note. */
  checkpoint: z.string(),
  first: z.int().min(0),
  end: z.int().min(0),
  /** Base64 hashes of the complete subtrees before `first`, and from `end` to the size of the checkpoint. */
  left: z.array(z.string()),
  right: z.array(z.string()),
});
export type ExportHeader = z.output<typeof Header>;

const csvMark = "# ";
const columns = [
  "at",
  "verb",
  "action",
  "outcome",
  "status",
  "actor",
  "for",
  "role",
  "via",
  "key",
  "resource",
  "ids",
  "face",
] as const satisfies readonly (keyof LeafEntry)[];

/** All lines before the entries. */
export function headerLines(header: ExportHeader, format: AuditFormat): readonly string[] {
  const line = JSON.stringify(Header.parse(header));
  return format === "csv" ? [`${csvMark}${line}`, ["index", "hash", ...columns, "entry"].join(",")] : [line];
}

export function entryLine(index: number, leaf: string, format: AuditFormat): string {
  const hash = leafHash(Buffer.from(leaf));
  if (format === "ndjson") return `{"index":${index},"hash":"${hash.toString("base64")}","entry":${leaf}}`;
  const entry = readLeaf(leaf);
  const values = columns.map((name) => textOf(entry[name]));
  return [String(index), hash.toString("hex"), ...values, leaf].map(cell).join(",");
}

/** Undefined for a line that is not exactly as written by us. */
export function readHeader(line: string): { readonly header: ExportHeader; readonly format: AuditFormat } | undefined {
  const format = line.startsWith(csvMark) ? "csv" : "ndjson";
  const text = format === "csv" ? line.slice(csvMark.length) : line;
  const parsed = Header.safeParse(parseJson(text));
  if (!parsed.success || JSON.stringify(parsed.data) !== text) return undefined;
  return { header: parsed.data, format };
}

/** The header of a line; undefined if there is none. */
export function readEntryLine(
  line: string,
  format: AuditFormat,
): { readonly index: number; readonly leaf: string } | undefined {
  if (format === "csv") {
    const cells = [...line.matchAll(/"((?:[^"]|"")*)"(?:,|$)/gy)].map(([, text]) =>
      (text as string).replaceAll('""', '"'),
    );
    const leaf = cells.at(-1);
    return leaf === undefined || !/^\d{1,15}$/.test(cells[0] ?? "") ? undefined : { index: Number(cells[0]), leaf };
  }
  const [, index, leaf] = /^\{"index":(\d{1,15}),"hash":"[^"]*","entry":(.*)\}$/.exec(line) ?? [];
  return index === undefined || leaf === undefined ? undefined : { index: Number(index), leaf };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(value: LeafEntry[keyof LeafEntry]): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A spreadsheet would interpret some values as a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
