/** What supports quads, and which of them need no support. */
import { defaultGraph, type Quad } from "../../../domain/rdf.ts";
import type { Support } from "../../../ports/triple-store.ts";
import { requireNotClosed } from "../../../triples/space-errors.ts";
import type { SpaceKey } from "../../../triples/triple-engine.ts";
import type { Database, Session } from "../connection.ts";
import { inSnapshot } from "./match.ts";
import { numberArray, rangeSql } from "./ranges.ts";
import { readSpace } from "./spaces.ts";
import type { TripleTables } from "./tables.ts";
import { findTerms, sourceOf, type TermTexts } from "./terms.ts";

export async function supportsOf(
  database: Database,
  tables: TripleTables,
  texts: TermTexts,
  key: SpaceKey,
  quads: readonly Quad[],
  limit: number,
): Promise<Support[][]> {
  return inSnapshot(database, async (session) => {
    const space = await readSpace(session, tables, key);
    requireNotClosed(key.space, space?.status);
    const found = quads.map((): Support[] => []);
    if (space === undefined || quads.length === 0) return found;
    const rows = await supportRows(session, tables, space.id, quads, limit);
    const names = await texts.read(
      session,
      space.id,
      rows.map(([, source]) => source),
    );
    for (const [place, source, part] of rows)
      found[place - 1]?.push({ source: sourceOf(names.get(source) as string), part });
    return found;
  });
}

export async function assertedOf(
  database: Database,
  tables: TripleTables,
  key: SpaceKey,
  quads: readonly Quad[],
): Promise<boolean[]> {
  return inSnapshot(database, async (session) => {
    const space = await readSpace(session, tables, key);
    requireNotClosed(key.space, space?.status);
    const asserted = quads.map(() => false);
    if (space === undefined || quads.length === 0) return asserted;
    const is = "t.space = $1::bigint AND t.s = k.s AND t.p = k.p AND t.o = k.o AND t.asserted";
    const rows = await session.query<[number]>(
      `SELECT k.place FROM ${keys} CROSS JOIN LATERAL (
         SELECT 1 FROM ${tables.triples} t WHERE k.g = 0 AND ${is} UNION ALL SELECT 1 FROM ${tables.quads} t WHERE t.g = k.g AND ${is}) q`,
      [space.id, ...(await quadColumns(session, tables, space.id, quads))],
    );
    for (const [place] of rows) asserted[place - 1] = true;
    return asserted;
  });
}

async function supportRows(
  session: Session,
  tables: TripleTables,
  space: number,
  quads: readonly Quad[],
  limit: number,
): Promise<[place: number, source: number, part: number][]> {
  const range = rangeSql({
    table: tables.supports,
    order: ["s", "p", "o", "g", "source", "part"],
    space: "$1::bigint",
    bound: ["k.s", "k.p", "k.o", "k.g"],
  });
  return session.query(
    `SELECT k.place, u.source, u.part FROM ${keys} CROSS JOIN LATERAL (SELECT t.source, t.part ${range} LIMIT $6::bigint) u`,
    [space, ...(await quadColumns(session, tables, space, quads)), limit],
  );
}

const keys = "unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY AS k (s, p, o, g, place)";

/** Quads as numbers, column by column: one with an unknown term matches no row. */
async function quadColumns(
  session: Session,
  tables: TripleTables,
  space: number,
  quads: readonly Quad[],
): Promise<[s: string, p: string, o: string, g: string]> {
  const terms = [...new Set(quads.flatMap(({ s, p, o, g }) => [s, p, o, g]))].filter((text) => text !== defaultGraph);
  const ids = await findTerms(session, tables, space, terms);
  const byText = new Map(terms.map((text, i) => [text, ids[i] as number]));
  byText.set(defaultGraph, 0);
  const column = (place: keyof Quad) => numberArray(quads.map((quad) => byText.get(quad[place]) as number));
  return [column("s"), column("p"), column("o"), column("g")];
}
