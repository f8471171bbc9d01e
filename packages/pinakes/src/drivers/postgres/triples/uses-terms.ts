/** Which of many terms a space has, in one statement. */
import type { TermText } from "../../../domain/rdf.ts";
import { requireNotClosed, type SpaceStatus } from "../../../triples/space-errors.ts";
import type { SpaceKey } from "../../../triples/triple-engine.ts";
import type { Session } from "../connection.ts";
import type { TripleTables } from "./tables.ts";
import { hashOf, noTerm, termSql } from "./terms.ts";

export async function usesTerms(
  session: Session,
  tables: TripleTables,
  key: SpaceKey,
  terms: readonly TermText[],
): Promise<boolean[]> {
  const rows = await session.query<[status: SpaceStatus, place: number | null]>(
    `SELECT sp.status, k.place FROM ${tables.spaces} sp
     LEFT JOIN LATERAL (SELECT k.place FROM unnest($3::bigint[], $4::text[]) WITH ORDINALITY AS k (hash, text, place)
       WHERE ${termSql(tables, "sp.id", "k.hash", "k.text")} <> ${noTerm}) k ON true
     WHERE sp.tenant = $1 AND sp.name = $2`,
    [key.tenant, key.space, `{${terms.map(hashOf).join(",")}}`, terms],
  );
  requireNotClosed(key.space, rows[0]?.[0]);
  const used = terms.map(() => false);
  for (const [, place] of rows) if (place !== null) used[place - 1] = true;
  return used;
}
