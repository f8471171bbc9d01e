/**
 * Tables: whole records, whatever the strategy, since half a record is meaningless. A record that is longer than the size is cut at words.
 */
import type { ParsedText } from "../../ports/parser.ts";
import { boundaryCutter } from "./boundaries.ts";
import { pack, type Cutting } from "./pack.ts";
import type { Span } from "./spans.ts";

export function recordSpans(cutting: Cutting, rows: ParsedText["rows"]): Iterable<Span> {
  return pack(
    cutting,
    boundaryCutter(
      cutting,
      rows.map(({ start }) => start),
    ),
  );
}
