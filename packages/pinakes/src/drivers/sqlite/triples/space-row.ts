/** The row of a space while a transaction changes it: read once, its counters kept exactly, written once. */
import type { SpaceStatus } from "../../../triples/space-errors.ts";
import type { SpaceKey } from "../../../triples/triple-engine.ts";
import type { Statements } from "./statements.ts";

export interface SpaceRow {
  readonly id: number;
  readonly name: string;
  status: SpaceStatus;
  /** In the default graph, and in the others. */
  triples: number;
  quads: number;
  supports: number;
  terms: number;
  nextTerm: number;
}

type Columns = [number, SpaceStatus, number, number, number, number, number];

export function readSpace(statements: Statements, { tenant, space }: SpaceKey): SpaceRow | undefined {
  const row = statements.first<Columns>(
    "SELECT id, status, triples, quads, supports, terms, next_term FROM spaces WHERE tenant = ? AND name = ?",
    tenant,
    space,
  );
  if (row === undefined) return undefined;
  const [id, status, triples, quads, supports, terms, nextTerm] = row;
  return { id, name: space, status, triples, quads, supports, terms, nextTerm };
}

export function makeSpace(statements: Statements, key: SpaceKey, status: SpaceStatus): SpaceRow {
  statements.run("INSERT INTO spaces (tenant, name, status) VALUES (?, ?, ?)", key.tenant, key.space, status);
  return readSpace(statements, key) as SpaceRow;
}

export function writeSpace(
  statements: Statements,
  { id, status, triples, quads, supports, terms, nextTerm }: SpaceRow,
): void {
  statements.run(
    "UPDATE spaces SET status = ?, triples = ?, quads = ?, supports = ?, terms = ?, next_term = ? WHERE id = ?",
    status,
    triples,
    quads,
    supports,
    terms,
    nextTerm,
    id,
  );
}
