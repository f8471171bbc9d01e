/**
 * Vectors, held-out queries and their exact answers. Everything follows from the seed; it is generated once and cached in
 * scratch/bench-vectors/. A smaller set is a prefix of a larger one with the same dimensions. Raise `version` when a generator changes.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import type { Field, Filter, VectorSet } from "./candidate.ts";
import { clustered, hard } from "./generators.ts";
import { Random } from "./random.ts";
import { exactAnswers, type Answers } from "./truth.ts";

export const sets = { clustered, hard } as const;
export const sizes = {
  "10k": { rows: 10_000, dims: 384 },
  "100k": { rows: 100_000, dims: 384 },
  "1m": { rows: 1_000_000, dims: 256 },
} as const;
export type SetName = keyof typeof sets;
export type SizeName = keyof typeof sizes;

export const k = 10;
export const queryCount = 1_000;
export const scratch = fileURLToPath(new URL("../../scratch/bench-vectors/", import.meta.url));
const version = 1;
const seed = 20_260_101;
/** 0 is taken by the generators. */
const streams = { rows: 1, queries: 2, tags: 3 };

/** Queries and their answers. `Query` is a vector or a list of words. */
export interface Questions<Query> {
  readonly count: number;
  query(i: number): Query;
  /** A different value for each query, always the same for the same query. */
  filter(i: number, field: Field): Filter;
  /** The ids of the best k. */
  truth(i: number, field: Field | undefined): Int32Array;
}

const modulus: Readonly<Record<Field, number>> = { tag10: 10, tag1: 100 };

export function filterOf(i: number, field: Field): Filter {
  return { field, equals: i % modulus[field] };
}

/** Generates it if it is not cached yet; the first time takes seconds, minutes for a million. */
export async function loadVectors(
  name: SetName,
  size: SizeName,
): Promise<{ data: VectorSet; questions: Questions<Float32Array> }> {
  const { rows, dims } = sizes[size];
  const folder = `${scratch}${name}-${size}-${dims}-seed${seed}-v${version}/`;
  if (!existsSync(folder)) await make(folder, name, rows, dims);
  const vectors = new Float32Array(rows * dims);
  const tag10 = new Uint8Array(rows);
  const tag1 = new Uint8Array(rows);
  const queries = new Float32Array(queryCount * dims);
  const answers: Answers = {
    none: new Int32Array(queryCount * k),
    tag10: new Int32Array(queryCount * k),
    tag1: new Int32Array(queryCount * k),
  };
  for (const [file, array] of files({ vectors, tag10, tag1, queries, answers })) readInto(folder + file, array);
  return {
    data: { name: `${name}-${size}`, rows, dims, vectors, tag10, tag1 },
    questions: {
      count: queryCount,
      query: (i) => queries.slice(i * dims, (i + 1) * dims),
      filter: filterOf,
      truth: (i, field) => answers[field ?? "none"].subarray(i * k, (i + 1) * k),
    },
  };
}

interface Parts {
  readonly vectors: Float32Array;
  readonly tag10: Uint8Array;
  readonly tag1: Uint8Array;
  readonly queries: Float32Array;
  readonly answers: Answers;
}

function files({ vectors, tag10, tag1, queries, answers }: Parts): [string, NodeJS.TypedArray][] {
  return [
    ["vectors.f32", vectors],
    ["tag10.u8", tag10],
    ["tag1.u8", tag1],
    ["queries.f32", queries],
    ["truth.i32", answers.none],
    ["truth-tag10.i32", answers.tag10],
    ["truth-tag1.i32", answers.tag1],
  ];
}

async function make(folder: string, name: SetName, rows: number, dims: number): Promise<void> {
  const start = performance.now();
  const generate = sets[name](seed, dims);
  // Shared, so that the threads that compute the answers read the same memory.
  const vectors = new Float32Array(new SharedArrayBuffer(rows * dims * 4));
  const tag10 = new Uint8Array(new SharedArrayBuffer(rows));
  const tag1 = new Uint8Array(new SharedArrayBuffer(rows));
  const queries = new Float32Array(new SharedArrayBuffer(queryCount * dims * 4));
  for (let i = 0; i < rows; i += 1) {
    generate(vectors, i * dims, streams.rows, i);
    const random = new Random(seed, streams.tags, i);
    tag10[i] = random.integer(modulus.tag10);
    tag1[i] = random.integer(modulus.tag1);
  }
  for (let i = 0; i < queryCount; i += 1) generate(queries, i * dims, streams.queries, i);
  const generated = performance.now();
  const answers = await exactAnswers({ vectors, tag10, tag1, queries, rows, dims });
  const temporary = `${folder.slice(0, -1)}.${process.pid}/`;
  mkdirSync(temporary, { recursive: true });
  for (const [file, array] of files({ vectors, tag10, tag1, queries, answers })) writeAll(temporary + file, array);
  writeFileSync(
    `${temporary}made.json`,
    JSON.stringify({ generateMs: generated - start, answerMs: performance.now() - generated }),
  );
  if (existsSync(folder)) rmSync(temporary, { recursive: true });
  else renameSync(temporary, folder);
}

/** Linux moves at most 2 GiB at once. */
const chunkBytes = 1 << 28;

function writeAll(path: string, array: NodeJS.TypedArray): void {
  const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  const file = openSync(path, "w");
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, Math.min(chunkBytes, bytes.length - at));
  closeSync(file);
}

function readInto(path: string, array: NodeJS.TypedArray): void {
  const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  const file = openSync(path, "r");
  for (let at = 0; at < bytes.length;) {
    const read = readSync(file, bytes, at, Math.min(chunkBytes, bytes.length - at), at);
    if (read === 0) throw new Error(`${path} is too short; delete its folder.`);
    at += read;
  }
  closeSync(file);
}
