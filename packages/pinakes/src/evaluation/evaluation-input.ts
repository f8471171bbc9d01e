/** Validates evaluations. */
import { PinakesError, invalid, show } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import { checkName } from "../knowledge/records/names.ts";
import type { JudgedQuery } from "./measure.ts";

export const evaluationLimits = Object.freeze({
  queriesMax: 1_000,
  relevantPerQueryMax: 100,
  documentIdCharsMax: 128,
  gradeMax: 100,
  kDefault: 10,
  kMax: 100,
  /** Runs whose metrics and outcomes are kept. */
  runsMax: 20,
  /** Ranked documents kept per query of a run, relevant or not. */
  rankedKeptMax: 10,
});

export interface NewEvaluation {
  readonly name: string;
  readonly collections: readonly { readonly repository: string; readonly collection: string }[];
  readonly queries: readonly {
    readonly query: string;
    /** Document ids; the grade defaults to 1. */
    readonly relevant: readonly { readonly document_id: string; readonly grade?: number | undefined }[];
  }[];
  /** Metrics use the first k documents; default 10. */
  readonly k?: number | undefined;
}

export interface CheckedEvaluation {
  readonly name: string;
  readonly collections: readonly { readonly repository: string; readonly collection: string }[];
  readonly queries: readonly JudgedQuery[];
  readonly k: number;
}

export function checkEvaluation(input: NewEvaluation): CheckedEvaluation {
  const fields: unknown = input;
  if (!isJsonObject(fields)) throw invalid("An evaluation must be an object with name, collections and queries.");
  const { k = evaluationLimits.kDefault } = fields;
  if (typeof k !== "number" || !Number.isInteger(k) || k < 1 || k > evaluationLimits.kMax)
    throw invalid(`k: must be a whole number from 1 to ${evaluationLimits.kMax}, got ${show(k)}.`);
  const queries = list(fields["queries"], "queries", evaluationLimits.queriesMax);
  return {
    name: checkName(fields["name"]),
    collections: checkCollections(fields["collections"]),
    queries: queries.map(checkQuery),
    k,
  };
}

function checkCollections(value: unknown): CheckedEvaluation["collections"] {
  return list(value, "collections", knowledgeLimits.searchCollectionsMax).map((entry, i) => {
    const { repository, collection } = objectAt(entry, `collections[${i}]`);
    if (typeof repository !== "string" || typeof collection !== "string")
      throw invalid(`collections[${i}]: needs the ids "repository" and "collection".`);
    return { repository, collection };
  });
}

function checkQuery(entry: unknown, i: number): JudgedQuery {
  const where = `queries[${i}]`;
  const { query, relevant } = objectAt(entry, where);
  if (typeof query !== "string" || query.trim() === "" || query.length > knowledgeLimits.queryCharsMax)
    throw invalid(`${where}.query: must be a string of 1–${knowledgeLimits.queryCharsMax} characters.`);
  const judged = list(relevant, `${where}.relevant`, evaluationLimits.relevantPerQueryMax).map((item, j) =>
    checkRelevant(item, `${where}.relevant[${j}]`),
  );
  const grades = new Map(judged);
  if (grades.size < judged.length) throw invalid(`${where}.relevant: names a document twice.`);
  return { id: String(i), text: query, relevant: grades };
}

function checkRelevant(item: unknown, where: string): readonly [string, number] {
  const { documentIdCharsMax, gradeMax } = evaluationLimits;
  const { document_id, grade = 1 } = objectAt(item, where);
  if (typeof document_id !== "string" || document_id === "" || document_id.length > documentIdCharsMax)
    throw invalid(
      `${where}.document_id: must be a string of 1–${documentIdCharsMax} characters, got ${show(document_id)}.`,
    );
  if (typeof grade !== "number" || !Number.isInteger(grade) || grade < 1 || grade > gradeMax)
    throw invalid(`${where}.grade: must be a whole number from 1 to ${gradeMax}, got ${show(grade)}.`);
  return [document_id, grade];
}

function list(value: unknown, where: string, max: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw invalid(`${where}: must be a non-empty list.`);
  if (value.length > max)
    throw new PinakesError("LIMIT_EXCEEDED", `${where}: has ${value.length} entries; at most ${max} are allowed.`);
  return value;
}

function objectAt(value: unknown, where: string): JsonObject {
  if (!isJsonObject(value)) throw invalid(`${where}: must be an object.`);
  return value;
}
