/**
 * Objects that are too large for the record of an evaluation: its queries, written once, and the outcome of each query per run. They are
 * written before the record refers to them, and removed before the record, so after any interruption the delete can be repeated from the
 * record.
 */
import { PinakesError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { JudgedQuery } from "./measure.ts";

/** The outcome of one query in a run. */
export interface QueryOutcome {
  readonly ndcg: number;
  readonly recall: number;
  /** Reciprocal rank of the first relevant document; 0 if none was found. */
  readonly mrr: number;
  readonly search_ms: number;
  /** Ranks of the relevant documents among the first k. */
  readonly found: readonly { readonly document_id: string; readonly rank: number }[];
  /** The first documents, relevant or not. */
  readonly ranked: readonly string[];
}

interface StoredQueries {
  readonly format: number;
  readonly queries: readonly (readonly [string, readonly (readonly [string, number])[]])[];
}

interface StoredRun {
  readonly format: number;
  readonly outcomes: readonly QueryOutcome[];
}

const format = 1;

export class QuestionStore {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  async put(scope: Scope, evaluationId: string, queries: readonly JudgedQuery[]): Promise<void> {
    const stored: StoredQueries = { format, queries: queries.map(({ text, relevant }) => [text, [...relevant]]) };
    await this.#write(scope, queriesKey(evaluationId), stored);
  }

  async read(scope: Scope, evaluationId: string): Promise<readonly JudgedQuery[]> {
    const stored = await this.#read<StoredQueries>(
      scope,
      queriesKey(evaluationId),
      `The queries of evaluation "${evaluationId}"`,
    );
    if (stored === undefined)
      throw new PinakesError(
        "CORRUPT",
        `The queries of evaluation "${evaluationId}" are missing from the object store. Create it again.`,
      );
    return stored.queries.map(([text, relevant], i) => ({ id: String(i), text, relevant: new Map(relevant) }));
  }

  async putRun(scope: Scope, evaluationId: string, runId: string, outcomes: readonly QueryOutcome[]): Promise<void> {
    const stored: StoredRun = { format, outcomes };
    await this.#write(scope, runKey(evaluationId, runId), stored);
  }

  /** In the order of the queries; undefined for a run older than this store. */
  async readRun(scope: Scope, evaluationId: string, runId: string): Promise<readonly QueryOutcome[] | undefined> {
    return (await this.#read<StoredRun>(scope, runKey(evaluationId, runId), `The queries of run "${runId}"`))?.outcomes;
  }

  async removeRuns(scope: Scope, evaluationId: string, runIds: readonly string[]): Promise<void> {
    if (runIds.length > 0)
      await this.#objects.delete(
        scope,
        runIds.map((runId) => runKey(evaluationId, runId)),
      );
  }

  /** The queries and every run, also those without a record. */
  async removeAll(scope: Scope, evaluationId: string): Promise<void> {
    await this.#objects.delete(scope, [queriesKey(evaluationId)]);
    for (;;) {
      const { keys } = await this.#objects.list(scope, runsPrefix(evaluationId));
      if (keys.length === 0) return;
      await this.#objects.delete(
        scope,
        keys.map(({ key }) => key),
      );
    }
  }

  async #write(scope: Scope, key: string, stored: StoredQueries | StoredRun): Promise<void> {
    await this.#objects.put(scope, key, Buffer.from(JSON.stringify(stored), "utf8"));
  }

  async #read<Kept extends { readonly format: number }>(
    scope: Scope,
    key: string,
    what: string,
  ): Promise<Kept | undefined> {
    const bytes = await this.#objects.get(scope, key);
    if (bytes === undefined) return undefined;
    const stored = JSON.parse(Buffer.from(bytes).toString("utf8")) as Kept;
    if (stored.format !== format)
      throw new PinakesError(
        "CORRUPT",
        `${what} have format ${stored.format}; this version of Pinakes reads format ${format}.`,
      );
    return stored;
  }
}

function queriesKey(evaluationId: string): string {
  return `evaluations/${evaluationId}.json`;
}

function runsPrefix(evaluationId: string): string {
  return `evaluations/${evaluationId}/runs/`;
}

function runKey(evaluationId: string, runId: string): string {
  return `${runsPrefix(evaluationId)}${runId}.json`;
}
