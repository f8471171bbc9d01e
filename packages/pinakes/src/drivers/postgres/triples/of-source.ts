/** What a source supports: the same index range that its removal reads. */
import { defaultGraph, type TermText } from "../../../domain/rdf.ts";
import { badCursor, requireNotClosed } from "../../../triples/space-errors.ts";
import type { SourceRequest, SourceResult, SpaceKey } from "../../../triples/triple-engine.ts";
import { tripleLimits } from "../../../triples/triple-limits.ts";
import type { Database } from "../connection.ts";
import { inSnapshot } from "./match.ts";
import { rangeSql } from "./ranges.ts";
import { readSpace } from "./spaces.ts";
import type { TripleTables } from "./tables.ts";
import { findTerms, sourceText, type TermTexts } from "./terms.ts";

type Row = [s: number, p: number, o: number, g: number, part: number];

export async function ofSource(
  database: Database,
  tables: TripleTables,
  texts: TermTexts,
  key: SpaceKey,
  request: SourceRequest,
): Promise<SourceResult> {
  const after = request.after === undefined ? undefined : parsePlace(request.after);
  return inSnapshot(database, async (session) => {
    const space = await readSpace(session, tables, key);
    requireNotClosed(key.space, space?.status);
    if (space === undefined) return { rows: [], next: undefined, examined: 0 };
    const [source] = await findTerms(session, tables, space.id, [sourceText(request.source)]);
    const { text, values } = ofSourceSql(tables, space.id, source as number, request.limit, after);
    const found = await session.query<Row>(text, values);
    const known = await texts.read(
      session,
      space.id,
      found.flatMap(([s, p, o, g]) => (g === 0 ? [s, p, o] : [s, p, o, g])),
    );
    const term = (id: number) => known.get(id) as TermText;
    const rows = found.map((row) => {
      const [s, p, o, g, part] = row;
      return {
        quad: { s: term(s), p: term(p), o: term(o), g: g === 0 ? defaultGraph : term(g) },
        part,
        place: row.join("."),
      };
    });
    return { rows, next: found.length < request.limit ? undefined : rows.at(-1)?.place, examined: found.length };
  });
}

/** Exported for tests, which check its plan. */
export function ofSourceSql(
  tables: TripleTables,
  space: number,
  source: number,
  limit: number,
  after?: Row,
): { text: string; values: number[] } {
  const range = rangeSql({
    table: tables.supports,
    order: ["source", "s", "p", "o", "g", "part"],
    space: "$1::bigint",
    bound: ["$2::bigint"],
    after: after && ["$4::bigint", "$5::bigint", "$6::bigint", "$7::bigint", "$8::int"],
  });
  return {
    text: `SELECT t.s, t.p, t.o, t.g, t.part ${range} LIMIT $3::bigint`,
    values: [space, source, limit, ...(after ?? [])],
  };
}

function parsePlace(text: string): Row {
  const numbers = /^\d{1,15}(\.\d{1,15}){4}$/.test(text) ? text.split(".").map(Number) : [];
  const [, , , , part = Infinity] = numbers;
  if (part > tripleLimits.partMax) throw badCursor();
  return numbers as Row;
}
