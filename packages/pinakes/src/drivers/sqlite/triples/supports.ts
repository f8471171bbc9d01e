/** Reads the supports of a quad, whether it is asserted, and what a source supports, inside the caller's transaction. */
import { defaultGraph } from "../../../domain/rdf.ts";
import type { Support } from "../../../ports/triple-store.ts";
import { badCursor } from "../../../triples/space-errors.ts";
import type { SourceRequest, SourceResult } from "../../../triples/triple-engine.ts";
import { tripleLimits } from "../../../triples/triple-limits.ts";
import type { QuadIds } from "./quad-writer.ts";
import { assertedSource } from "./schema.ts";
import type { Statements } from "./statements.ts";
import type { TermReader } from "./term-reader.ts";

const quadIs = "s = ? AND p = ? AND o = ? AND g = ?";

export function supportsOf(statements: Statements, space: number, quad: QuadIds, limit: number): Support[] {
  const rows = statements.all<[string, number]>(
    `SELECT sources.name, part FROM supports JOIN sources ON sources.space = supports.space AND sources.id = source
     WHERE supports.space = ? AND ${quadIs} AND source > ${assertedSource} LIMIT ? + 0`,
    space,
    ...quad,
    limit,
  );
  return rows.map(([source, part]) => ({ source, part }));
}

/** The row that marks it asserted would be the first of its supports; a quad without supports needs no such row. */
export function isAsserted(statements: Statements, space: number, quad: QuadIds): boolean {
  const [s, p, o, g] = quad;
  const there =
    g === 0
      ? statements.first("SELECT 1 FROM spo WHERE space = ? AND s = ? AND p = ? AND o = ?", space, s, p, o)
      : statements.first(`SELECT 1 FROM spog WHERE space = ? AND ${quadIs}`, space, ...quad);
  if (there === undefined) return false;
  const first = statements.first<[number]>(
    `SELECT source FROM supports WHERE space = ? AND ${quadIs} ORDER BY source, part LIMIT 1`,
    space,
    ...quad,
  );
  return first === undefined || first[0] === assertedSource;
}

const columns = "s, p, o, g, part";

/**
 * Exported for tests, which check its query plan. The parameters are the space, the source, the position to continue from, and the limit.
 */
export function ofSourceSql(want: "first" | "after"): string {
  const after = want === "after" ? ` AND (${columns}) > (?, ?, ?, ?, ?)` : "";
  return `SELECT ${columns} FROM supports_by_source WHERE space = ? AND source = ?${after} ORDER BY ${columns} LIMIT ? + 0`;
}

/** `place` has the columns of the row to continue after. */
export function rowsOfSource(
  statements: Statements,
  terms: TermReader,
  space: number,
  { source, limit }: SourceRequest,
  place: readonly number[] | undefined,
): SourceResult {
  if (place !== undefined && (place.length !== 5 || (place[4] as number) > tripleLimits.partMax)) throw badCursor();
  const id = statements.first<[number]>("SELECT id FROM sources WHERE space = ? AND name = ?", space, source)?.[0];
  if (id === undefined) return { rows: [], next: undefined, examined: 0 };
  const sql = ofSourceSql(place === undefined ? "first" : "after");
  const found = statements.all<[number, number, number, number, number]>(sql, space, id, ...(place ?? []), limit);
  const rows = found.map((row) => {
    const [s, p, o, g, part] = row;
    const quad = {
      s: terms.text(space, s),
      p: terms.text(space, p),
      o: terms.text(space, o),
      g: g === 0 ? defaultGraph : terms.text(space, g),
    };
    return { quad, part, place: row.join(".") };
  });
  return { rows, next: found.length < limit ? undefined : rows.at(-1)?.place, examined: found.length };
}
