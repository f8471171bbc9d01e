/** CSV: the text is the source itself, so that a row can be cited by its lines. The first record is the header and has no number. */
import { parse } from "csv-parse/sync";
import { invalid } from "../../../domain/errors.ts";
import type { ParsedText } from "../../../ports/parser.ts";
import { parserLimits } from "../limits.ts";

type Row = ParsedText["rows"][number];

export function parseCsv(text: string, { rowsMax }: { readonly rowsMax: number } = parserLimits): ParsedText {
  const delimiter = delimiterOf(text);
  const bytes = Buffer.from(text);
  const warnings: string[] = [];
  const quoted = readRecords(bytes, delimiter, true, rowsMax);
  if (quoted === undefined)
    warnings.push(
      "A quoted field is never closed, so quotes were read as ordinary characters; rows may be cut at line ends inside fields.",
    );
  const table = quoted ?? readRecords(bytes, delimiter, false, rowsMax);
  if (table === undefined) throw invalid("The file could not be read as CSV; check its quotes and separators.");
  if (table.ragged > 0)
    warnings.push(
      `${table.ragged} ${table.ragged === 1 ? "row has" : "rows have"} more or fewer fields than the header (first: row ${table.firstRagged}).`,
    );
  return { text, pages: [], sections: [], rows: table.rows, warnings };
}

interface Table {
  readonly rows: readonly Row[];
  readonly ragged: number;
  readonly firstRagged: number;
}

/** Undefined if a quote is not closed. */
function readRecords(bytes: Buffer, delimiter: string, quotes: boolean, rowsMax: number): Table | undefined {
  const rows: Row[] = [];
  const position = charPositions(bytes);
  let records = 0;
  let end = 0;
  let width = 0;
  let ragged = 0;
  let firstRagged = 0;
  try {
    parse(bytes, {
      delimiter,
      quote: quotes ? '"' : false,
      record_delimiter: "\n",
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      // Records are examined one by one and never kept: only their offsets matter.
      on_record: (record: readonly string[], context) => {
        const start = skipNewlines(bytes, end);
        end = context.bytes;
        if (records === 0) width = record.length;
        else rows.push({ start: position(start), row: records });
        if (record.length !== width) {
          ragged += 1;
          firstRagged ||= records;
        }
        if (records > rowsMax)
          throw invalid(
            `The table has more than ${rowsMax.toLocaleString("en-US")} rows; split it into several files.`,
          );
        records += 1;
        return undefined;
      },
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "CSV_QUOTE_NOT_CLOSED") return undefined;
    throw error;
  }
  return { rows, ragged, firstRagged };
}

function skipNewlines(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === 0x0a) at += 1;
  return at;
}

/** Byte offsets, in ascending order, to offsets in the text. */
function charPositions(bytes: Buffer): (byte: number) => number {
  let byteDone = 0;
  let chars = 0;
  return (byte) => {
    for (; byteDone < byte; byteDone += 1) {
      const value = bytes[byteDone] as number;
      // One unit for each character, two for those of four bytes; continuation bytes add none.
      if ((value & 0xc0) !== 0x80) chars += value >= 0xf0 ? 2 : 1;
    }
    return chars;
  };
}

const delimiters = [",", ";", "\t", "|"] as const;
const sampleLinesMax = 20;

/** The delimiter that splits the first lines into the most fields while most of them agree. */
function delimiterOf(text: string): string {
  const lines = sampleLines(text);
  let best: { readonly delimiter: string; readonly score: number } = { delimiter: ",", score: 0 };
  for (const delimiter of delimiters) {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const header = counts[0] ?? 0;
    const agreeing = counts.filter((count) => count === header).length / Math.max(1, counts.length);
    const score = header === 0 ? 0 : agreeing * agreeing * Math.log2(1 + header);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** Lines outside quotes, without quoted content: a separator inside does not count. */
function sampleLines(text: string): string[] {
  return text
    .slice(0, 65_536)
    .replaceAll(/"(?:[^"]|"")*"/g, "")
    .split("\n", sampleLinesMax * 4)
    .filter((line) => line.trim() !== "")
    .slice(0, sampleLinesMax);
}
