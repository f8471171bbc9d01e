/** The triple engine on PostgreSQL. Each part of the work has its own file. */
import type { Quad, TermText } from "../../../domain/rdf.ts";
import type { ScrubReport } from "../../../ports/item-erasure.ts";
import type {
  QuadChanges,
  QuadPattern,
  SpaceInfo,
  SpaceUsage,
  Support,
  TripleStoreCapabilities,
} from "../../../ports/triple-store.ts";
import { KeyedQueue } from "../../../runtime/keyed-queue.ts";
import { requireNotClosed, type SpaceStatus } from "../../../triples/space-errors.ts";
import type {
  MatchRequest,
  MatchResult,
  PreparedChange,
  SourceRequest,
  SourceResult,
  SpaceKey,
  TripleEngine,
} from "../../../triples/triple-engine.ts";
import { tripleLimits } from "../../../triples/triple-limits.ts";
import { Database, type Session } from "../connection.ts";
import { scrubTables } from "../erasure.ts";
import { Names } from "../names.ts";
import { countQuads, listGraphs, matchQuads } from "./match.ts";
import { ofSource } from "./of-source.ts";
import { purgeSpace, type PurgeStep } from "./purge.ts";
import { type RemovedStep, removeSource } from "./remove-source.ts";
import { fenceSpace, listSpaces, openSpace, unfenceSpace, usageOf } from "./spaces.ts";
import { assertedOf, supportsOf } from "./supports.ts";
import { prepareTriples, type TripleTables } from "./tables.ts";
import { hashOf, noTerm, termSql, TermTexts } from "./terms.ts";
import { writeQuads } from "./write.ts";

export class PostgresTripleEngine implements TripleEngine {
  readonly capabilities: TripleStoreCapabilities = {
    engine: "postgres",
    reads: "strong",
    atomicQuadsMax: tripleLimits.writeQuadsMax,
    durable: true,
  };
  readonly #database: Database;
  readonly #names: Names;
  readonly #tables: TripleTables;
  readonly #texts: TermTexts;
  /** PostgreSQL would serialise writes to a space too, but each would hold a connection while it waits, and exhaust the pool. */
  readonly #queue = new KeyedQueue();
  #closed: Promise<void> | undefined;

  private constructor(database: Database, names: Names, tables: TripleTables) {
    this.#database = database;
    this.#names = names;
    this.#tables = tables;
    this.#texts = new TermTexts(tables);
  }

  static async open(url: string, database: string, poolSize: number): Promise<PostgresTripleEngine> {
    const names = new Names(database);
    const pool = await Database.open(url, poolSize);
    try {
      return new PostgresTripleEngine(pool, names, await prepareTriples(pool, names));
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  async scrub(): Promise<ScrubReport> {
    return scrubTables(this.#database, this.#names, "triples");
  }

  async open(space: SpaceKey): Promise<void> {
    await openSpace(this.#database, this.#tables, space);
  }

  async write(space: SpaceKey, change: PreparedChange): Promise<QuadChanges> {
    return this.#inTurn(space, () => writeQuads(this.#database, this.#tables, space, change));
  }

  async removeSource(space: SpaceKey, source: string, limit: number): Promise<RemovedStep> {
    return this.#inTurn(space, () => removeSource(this.#database, this.#tables, space, source, limit));
  }

  async match(space: SpaceKey, request: MatchRequest): Promise<MatchResult> {
    return matchQuads(this.#database, this.#tables, this.#texts, space, request);
  }

  async count(space: SpaceKey, pattern: QuadPattern, max: number | undefined): Promise<number> {
    return countQuads(this.#database, this.#tables, space, pattern, max);
  }

  async supports(space: SpaceKey, quads: readonly Quad[], limit: number): Promise<readonly (readonly Support[])[]> {
    return supportsOf(this.#database, this.#tables, this.#texts, space, quads, limit);
  }

  async asserted(space: SpaceKey, quads: readonly Quad[]): Promise<readonly boolean[]> {
    return assertedOf(this.#database, this.#tables, space, quads);
  }

  async mayUse(space: SpaceKey, terms: readonly TermText[]): Promise<readonly boolean[]> {
    return usesTerms(this.#database, this.#tables, space, terms);
  }

  async ofSource(space: SpaceKey, request: SourceRequest): Promise<SourceResult> {
    return ofSource(this.#database, this.#tables, this.#texts, space, request);
  }

  async graphs(
    space: SpaceKey,
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly graphs: readonly TermText[]; readonly next: string | undefined }> {
    return listGraphs(this.#database, this.#tables, this.#texts, space, after, limit);
  }

  async usage(space: SpaceKey): Promise<SpaceUsage> {
    return usageOf(this.#database, this.#tables, space);
  }

  async spaces(
    tenant: string,
    after: string,
    limit: number,
  ): Promise<{ readonly spaces: readonly SpaceInfo[]; readonly done: boolean }> {
    return listSpaces(this.#database, this.#tables, tenant, after, limit);
  }

  async fence(space: SpaceKey): Promise<void> {
    await this.#inTurn(space, () => fenceSpace(this.#database, this.#tables, space));
  }

  async unfence(space: SpaceKey): Promise<void> {
    await this.#inTurn(space, () => unfenceSpace(this.#database, this.#tables, space));
  }

  async purge(space: SpaceKey, limit: number): Promise<PurgeStep> {
    return this.#inTurn(space, () => purgeSpace(this.#database, this.#tables, space, limit));
  }

  close(): Promise<void> {
    // Writes in the queue were accepted: they are carried out.
    this.#closed ??= this.#queue.idle().then(() => this.#database.close());
    return this.#closed;
  }

  #inTurn<T>({ tenant, space }: SpaceKey, work: () => Promise<T>): Promise<T> {
    return this.#queue.run([`${tenant} ${space}`], work);
  }
}

/** Which of many terms a space has, in one statement. */
async function usesTerms(
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
