/**
 * Reads test sets in BEIR layout, line by line:
 *
 *   corpus.jsonl        { "_id": "d1", "title": "…", "text": "…" }
 *   queries.jsonl       { "_id": "q1", "text": "…" }
 *   qrels/<split>.tsv   query-id ⇥ corpus-id ⇥ score, below one line of headings
 *
 * Only queries with at least one relevant document (a score above 0) are used: the others say nothing about a ranking. Skipped queries,
 * including those without a usable text, are reported by line.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { invalid, show } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import type { JudgedQuery } from "./measure.ts";

export interface BeirLimits {
  /** All of them are in memory at once. */
  readonly documentsMax: number;
  readonly queriesMax: number;
  readonly judgementsMax: number;
  readonly lineCharsMax: number;
  readonly idCharsMax: number;
}

export const beirLimits: BeirLimits = Object.freeze({
  documentsMax: 200_000,
  queriesMax: 20_000,
  judgementsMax: 2_000_000,
  lineCharsMax: 4_000_000,
  idCharsMax: 512,
});

export interface BeirDocument {
  readonly id: string;
  /** Title and text, separated by a line break. */
  readonly text: string;
}

export interface BeirSet {
  readonly folder: string;
  readonly split: string;
  readonly documents: readonly BeirDocument[];
  /** Documents without any text: no search can find them, so they are not stored. */
  readonly emptyDocuments: number;
  readonly queries: readonly JudgedQuery[];
  /** In the order of the file. */
  readonly skippedQueries: readonly SkippedQuery[];
  /** Hash of the documents, in order: with the same hash, earlier embeddings can be reused. */
  readonly contentHash: string;
}

export interface SkippedQuery {
  /** Line in queries.jsonl, from 1. */
  readonly line: number;
  readonly id: string;
  readonly reason: "no text" | "text too long" | "not judged";
}

export async function readBeir(
  folder: string,
  { split = "test", limits = beirLimits }: { split?: string; limits?: BeirLimits } = {},
): Promise<BeirSet> {
  if (!/^[\w.-]+$/.test(split))
    throw invalid(`--split: is the name of a file in qrels/ without ".tsv", got ${show(split)}.`);
  const ids = new Set<string>();
  const documents: BeirDocument[] = [];
  const hash = createHash("sha256");
  for await (const { record, where } of jsonLines(folder, "corpus.jsonl", limits)) {
    const id = idOf(record, where, ids, limits);
    if (ids.size > limits.documentsMax)
      throw invalid(`${where}: more than ${limits.documentsMax} documents; evaluate a smaller set.`);
    const text = `${textOf(record, "title", where, true)}\n${textOf(record, "text", where)}`.trim();
    if (text === "") continue;
    documents.push({ id, text });
    hash.update(`${JSON.stringify([id, text])}\n`);
  }
  if (documents.length === 0) throw invalid(`${join(folder, "corpus.jsonl")}: contains no document.`);
  const { queries, unusable } = await readQueries(folder, limits);
  const judged = await readJudgements(folder, split, { queries, unusable, documents: ids, limits });
  const kept = [...judged].filter(([, relevant]) => [...relevant.values()].some((grade) => grade > 0));
  if (kept.length === 0)
    throw invalid(`${join(folder, "qrels", `${split}.tsv`)}: no query has a relevant document (a score above 0).`);
  return {
    folder,
    split,
    documents,
    emptyDocuments: ids.size - documents.length,
    queries: kept.map(([id, relevant]) => ({ id, text: queries.get(id)?.text as string, relevant })),
    skippedQueries: skippedAmong(queries, unusable, new Set(kept.map(([id]) => id))),
    contentHash: hash.digest("hex"),
  };
}

interface Queries {
  readonly queries: ReadonlyMap<string, { readonly text: string; readonly line: number }>;
  /** By id. */
  readonly unusable: ReadonlyMap<string, SkippedQuery>;
}

/** Unusable queries are skipped and reported. */
async function readQueries(folder: string, limits: BeirLimits): Promise<Queries> {
  const ids = new Set<string>();
  const queries = new Map<string, { readonly text: string; readonly line: number }>();
  const unusable = new Map<string, SkippedQuery>();
  for await (const { record, where, number: line } of jsonLines(folder, "queries.jsonl", limits)) {
    const id = idOf(record, where, ids, limits);
    if (ids.size > limits.queriesMax)
      throw invalid(`${where}: more than ${limits.queriesMax} queries; evaluate a smaller set.`);
    const text = textOf(record, "text", where, true).trim();
    if (text === "") unusable.set(id, { line, id, reason: "no text" });
    else if (text.length > knowledgeLimits.queryCharsMax) unusable.set(id, { line, id, reason: "text too long" });
    else queries.set(id, { text, line });
  }
  return { queries, unusable };
}

function skippedAmong(
  queries: Queries["queries"],
  unusable: Queries["unusable"],
  kept: ReadonlySet<string>,
): readonly SkippedQuery[] {
  const unjudged = [...queries].flatMap(([id, { line }]): SkippedQuery[] =>
    kept.has(id) ? [] : [{ line, id, reason: "not judged" }],
  );
  return [...unusable.values(), ...unjudged].toSorted((a, b) => a.line - b.line);
}

interface Known extends Queries {
  readonly documents: ReadonlySet<string>;
  readonly limits: BeirLimits;
}

async function readJudgements(folder: string, split: string, known: Known): Promise<Map<string, Map<string, number>>> {
  const judged = new Map<string, Map<string, number>>();
  let count = 0;
  for await (const { line, number, where } of lines(folder, join("qrels", `${split}.tsv`), known.limits)) {
    const [query, document, score, ...more] = line.split("\t").map((cell) => cell.trim());
    const grade = Number(score);
    if (query === undefined || document === undefined || score === undefined || more.length > 0)
      throw invalid(`${where}: must be query-id, corpus-id and score with tabs between them, got ${show(line)}.`);
    if (number === 1 && Number.isNaN(grade)) continue;
    if (score === "" || !Number.isSafeInteger(grade))
      throw invalid(`${where}: the score must be a whole number, got ${show(score)}.`);
    if (known.unusable.has(query)) continue;
    if (!known.queries.has(query)) throw invalid(`${where}: query ${show(query)} is not in queries.jsonl.`);
    if (!known.documents.has(document)) throw invalid(`${where}: document ${show(document)} is not in corpus.jsonl.`);
    const relevant = judged.get(query) ?? new Map<string, number>();
    if ((relevant.get(document) ?? grade) !== grade)
      throw invalid(`${where}: document ${show(document)} was already judged for this query, with another score.`);
    count += 1;
    if (count > known.limits.judgementsMax)
      throw invalid(`${where}: more than ${known.limits.judgementsMax} judgements; evaluate a smaller set.`);
    judged.set(query, relevant.set(document, grade));
  }
  return judged;
}

async function* jsonLines(
  folder: string,
  file: string,
  limits: BeirLimits,
): AsyncGenerator<{ record: JsonObject; where: string; number: number }> {
  for await (const { line, where, number } of lines(folder, file, limits)) {
    let record: unknown;
    try {
      record = JSON.parse(line);
    } catch (error) {
      throw invalid(`${where}: is not JSON: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
    if (!isJsonObject(record)) throw invalid(`${where}: must be an object with "_id" and "text".`);
    yield { record, where, number };
  }
}

interface Line {
  readonly line: string;
  readonly number: number;
  readonly where: string;
}

async function* lines(folder: string, file: string, { lineCharsMax }: BeirLimits): AsyncGenerator<Line> {
  const path = join(folder, file);
  const input = createReadStream(path, "utf8");
  let number = 0;
  try {
    for await (const raw of createInterface({ input, crlfDelay: Infinity })) {
      number += 1;
      const where = `${path}:${number}`;
      if (raw.length > lineCharsMax)
        throw invalid(`${where}: has ${raw.length} characters; at most ${lineCharsMax} are read.`);
      const line = number === 1 ? raw.replace(/^\uFEFF/, "") : raw;
      if (line.trim() !== "") yield { line, number, where };
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "EISDIR") throw error;
    throw invalid(
      `${path}: no such file. A folder in BEIR layout has corpus.jsonl, queries.jsonl and qrels/<split>.tsv${await splits(folder)}.`,
      {
        cause: error,
      },
    );
  } finally {
    input.destroy();
  }
}

async function splits(folder: string): Promise<string> {
  const names = await readdir(join(folder, "qrels")).catch(() => []);
  const found = names.filter((name) => name.endsWith(".tsv")).map((name) => name.slice(0, -".tsv".length));
  return found.length === 0 ? "" : `; existing: --split ${found.toSorted().join(", ")}`;
}

function idOf(record: JsonObject, where: string, ids: Set<string>, { idCharsMax }: BeirLimits): string {
  const id = record["_id"];
  if (typeof id !== "string" || id === "" || id.length > idCharsMax)
    throw invalid(`${where}: "_id" must be a string of 1–${idCharsMax} characters, got ${show(id)}.`);
  if (ids.has(id)) throw invalid(`${where}: duplicate id ${show(id)}.`);
  ids.add(id);
  return id;
}

function textOf(record: JsonObject, name: string, where: string, optional = false): string {
  const value = record[name];
  if (typeof value === "string") return value;
  if (optional && (value === undefined || value === null)) return "";
  throw invalid(`${where}: "${name}" must be a string, got ${show(value)}.`);
}
