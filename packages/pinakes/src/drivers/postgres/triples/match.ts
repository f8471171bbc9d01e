/**
 * Pages of quads, counts, and names of graphs.
 *
 * A page is one statement that finds the space, the numbers of the pattern's terms and the rows, so all are of one moment. Texts are then
 * added by number. If one is gone by then, its quad was removed meanwhile, and the page is read again with its texts in one snapshot.
 */
import { invariant } from "../../../domain/invariant.ts";
import { defaultGraph, type Quad, type TermText } from "../../../domain/rdf.ts";
import type { QuadPattern } from "../../../ports/triple-store.ts";
import { badCursor, requireNotClosed, type SpaceStatus } from "../../../triples/space-errors.ts";
import type { MatchRequest, MatchResult, SpaceKey } from "../../../triples/triple-engine.ts";
import type { Database, Session } from "../connection.ts";
import { boundSql, parsePlace, placeText, scansOf, scansSql, type ScanCursor } from "./scans.ts";
import { readSpace } from "./spaces.ts";
import type { TripleTables } from "./tables.ts";
import { piecesOf, type TermTexts } from "./terms.ts";

type QuadRow = [scan: number, s: number, p: number, o: number, g: number];
type FoundRow = [space: number, status: SpaceStatus, ...QuadRow] | [space: number, status: SpaceStatus, scan: null];

/** Repeatable read: concurrent changes are invisible. */
export async function inSnapshot<T>(database: Database, read: (session: Session) => Promise<T>): Promise<T> {
  return database.transact(async (transaction) => {
    await transaction.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return read(transaction);
  });
}

export async function matchQuads(
  database: Database,
  tables: TripleTables,
  texts: TermTexts,
  key: SpaceKey,
  request: MatchRequest,
): Promise<MatchResult> {
  const page = await readPage(database, tables, texts, key, request);
  if (page !== undefined) return page;
  const whole = await inSnapshot(database, (session) => readPage(session, tables, texts, key, request));
  invariant(whole !== undefined, "CORRUPT", `the space ${key.space} has quads with terms that have no text`);
  return whole;
}

/** Undefined if a text is missing. */
async function readPage(
  session: Session,
  tables: TripleTables,
  texts: TermTexts,
  key: SpaceKey,
  request: MatchRequest,
): Promise<MatchResult | undefined> {
  const scans = scansOf(request.pattern);
  const after = request.after === undefined ? undefined : parsePlace(request.after, scans);
  const { space, rows } = await findRows(session, tables, key, request, after);
  const examined = rows.length;
  const quads: Quad[] = [];
  let chars = 0;
  for (const piece of piecesOf(rows.slice(0, request.limit), 4)) {
    const known = await texts.read(
      session,
      space,
      piece.flatMap(([, s, p, o, g]) => (g === 0 ? [s, p, o] : [s, p, o, g])),
    );
    for (const [, s, p, o, g] of piece) {
      const quad = { s: known.get(s), p: known.get(p), o: known.get(o), g: g === 0 ? defaultGraph : known.get(g) };
      if (!isWhole(quad)) return undefined;
      quads.push(quad);
      chars += quad.s.length + quad.p.length + quad.o.length + quad.g.length;
      if (chars >= request.charsMax) break;
    }
    if (chars >= request.charsMax) break;
  }
  const last = rows[quads.length - 1];
  return { quads, examined, next: last === undefined || quads.length === rows.length ? undefined : placeAfter(last) };

  function placeAfter([scan, s, p, o, g]: QuadRow): string {
    const { order, bound } = scans[scan] as (typeof scans)[number];
    const row = { s, p, o, g };
    return placeText({ scan, numbers: order.slice(bound).map((place) => row[place]) });
  }
}

function isWhole(quad: { readonly [P in keyof Quad]: TermText | undefined }): quad is Quad {
  return quad.s !== undefined && quad.p !== undefined && quad.o !== undefined && quad.g !== undefined;
}

/** One row more than the page may contain, to detect whether it continues. */
async function findRows(
  session: Session,
  tables: TripleTables,
  key: SpaceKey,
  { pattern, limit }: MatchRequest,
  after: ScanCursor | undefined,
): Promise<{ space: number; rows: QuadRow[] }> {
  const { text, values } = matchSql(tables, key, pattern, limit, after);
  const found = await session.query<FoundRow>(text, values);
  const [first] = found;
  if (first === undefined) return { space: 0, rows: [] };
  requireNotClosed(key.space, first[1]);
  return { space: first[0], rows: found.flatMap(([, , ...row]) => (row[0] === null ? [] : [row])) };
}

/** Exported for tests, which check its plan. */
export function matchSql(
  tables: TripleTables,
  key: SpaceKey,
  pattern: QuadPattern,
  limit: number,
  after?: ScanCursor,
): { text: string; values: unknown[] } {
  const values: unknown[] = [key.tenant, key.space, limit];
  const bound = "$3::bigint + 1";
  const terms = boundSql(tables, pattern, "sp.id", values);
  const text = `SELECT sp.id, sp.status, q.* FROM ${tables.spaces} sp CROSS JOIN LATERAL ${terms} LEFT JOIN LATERAL (
    SELECT * FROM (${scansSql(tables, pattern, after, "sp.id", bound, values)}) r LIMIT ${bound}
  ) q ON sp.status = 'open' WHERE sp.tenant = $1 AND sp.name = $2`;
  return { text, values };
}

export async function countQuads(
  database: Database,
  tables: TripleTables,
  key: SpaceKey,
  pattern: QuadPattern,
  max: number | undefined,
): Promise<number> {
  const values: unknown[] = [key.tenant, key.space, max ?? null];
  const { s, p, o, g } = pattern;
  const all = s === undefined && p === undefined && o === undefined && g === undefined;
  const terms = boundSql(tables, pattern, "sp.id", values);
  // Each range is counted up to the bound, so that a count with one stays short.
  const counted = all
    ? "least(sp.quads, $3::bigint)"
    : `(SELECT count(*) FROM (SELECT * FROM (${scansSql(tables, pattern, undefined, "sp.id", "$3::bigint", values)}) r LIMIT $3::bigint) c)`;
  const [row] = await database.query<[SpaceStatus, number]>(
    `SELECT sp.status, CASE WHEN sp.status = 'open' THEN ${counted} END FROM ${tables.spaces} sp CROSS JOIN LATERAL ${terms} WHERE sp.tenant = $1 AND sp.name = $2`,
    values,
  );
  if (row === undefined) return 0;
  requireNotClosed(key.space, row[0]);
  return row[1];
}

/** Skips from one name to the next, so that each costs one lookup however many quads its graph has. */
export async function listGraphs(
  database: Database,
  tables: TripleTables,
  texts: TermTexts,
  key: SpaceKey,
  after: string | undefined,
  limit: number,
): Promise<{ graphs: TermText[]; next: string | undefined }> {
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw badCursor();
  return inSnapshot(database, async (session) => {
    const space = await readSpace(session, tables, key);
    requireNotClosed(key.space, space?.status);
    if (space === undefined) return { graphs: [], next: undefined };
    const next = (from: string) =>
      `(SELECT t.g FROM ${tables.quads} t WHERE (t.space, t.g) > ($1::bigint, ${from}) AND t.space <= $1::bigint ORDER BY t.space, t.g, t.s, t.p, t.o LIMIT 1)`;
    const rows = await session.query<[number]>(
      `WITH RECURSIVE names (g) AS (SELECT ${next("$2::bigint")} UNION ALL SELECT ${next("names.g")} FROM names WHERE names.g IS NOT NULL)
       SELECT g FROM names WHERE g IS NOT NULL LIMIT $3::bigint + 1`,
      [space.id, after === undefined ? 0 : Number(after), limit],
    );
    const ids = rows.slice(0, limit).map(([g]) => g);
    const known = await texts.read(session, space.id, ids);
    return {
      graphs: ids.map((id) => known.get(id) as TermText),
      next: rows.length > limit ? String(ids.at(-1)) : undefined,
    };
  });
}
