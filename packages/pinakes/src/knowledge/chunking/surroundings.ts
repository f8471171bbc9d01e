import type { Chunk } from "../../domain/chunking.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { characterStart } from "./graphemes.ts";
import { countBelow, skipBlank, trimEnd, type Span } from "./spans.ts";

/** Headings and table headers are embedded with every chunk below them; a longer one would dominate its vector. */
export const contextCharsMax = 1_000;
const pathSeparator = " > ";

/** The position of a chunk: its page, section and rows, and the context around it. `fit` shortens a context to the model's limit. */
export function surroundings(
  parsed: ParsedText,
  fit: (context: string) => string = String,
): (span: Span) => Pick<Chunk, "page" | "section" | "rows" | "context"> {
  const { text, pages, sections, rows } = parsed;
  const pageStarts = pages.map(({ start }) => start);
  const rowStarts = rows.map(({ start }) => start);
  const sectionStarts = sections.map(({ start }) => start);
  const firstRow = rows[0]?.start ?? 0;
  const header = tableHeader(parsed);

  return ({ start, end }) => {
    const page = pages[countBelow(pageStarts, start + 1) - 1]?.page;
    const heading = sections[countBelow(sectionStarts, start + 1) - 1];
    const section = heading?.path.join(pathSeparator) ?? "";
    const first = rows[Math.max(0, countBelow(rowStarts, start + 1) - 1)];
    const last = rows[countBelow(rowStarts, end) - 1];
    const around = rows.length > 0 ? (start < firstRow ? "" : header) : headingsAbove(text, start, heading);
    return {
      ...(page === undefined ? {} : { page }),
      ...(section === "" ? {} : { section }),
      ...(first === undefined || last === undefined ? {} : { rows: [first.row, last.row] as const }),
      ...(around === "" ? {} : { context: fit(beginning(around)) }),
    };
  };
}

/** The text before the first record of a table. */
export function tableHeader({ text, rows }: ParsedText): string {
  return beginning(text.slice(0, trimEnd(text, 0, rows[0]?.start ?? 0)).trimStart());
}

/** Every context that headings can give. */
export function headingsOf({ sections, rows }: ParsedText): readonly string[] {
  return rows.length > 0 ? [] : sections.map(({ path }) => beginning(path.join(pathSeparator)));
}

/** Only headings that the chunk does not contain: a chunk that begins with its heading gets the headings above it. */
function headingsAbove(text: string, start: number, heading: ParsedText["sections"][number] | undefined): string {
  if (heading === undefined) return "";
  const saysIt = skipBlank(text, heading.start, text.length) === start;
  return (saysIt ? heading.path.slice(0, -1) : heading.path).join(pathSeparator);
}

function beginning(context: string): string {
  return context.length <= contextCharsMax ? context : context.slice(0, characterStart(context, contextCharsMax, 0));
}
