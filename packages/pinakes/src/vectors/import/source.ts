/**
 * One snapshot or delta of a producer, copied to this machine so that it can be read twice and cannot change in between: first to
 * validate all of it, then to append it.
 *
 *   delta/x.jsonl, delta/x.ndjson   rows as NDJSON
 *   delta/x/                        a Chroma directory, or NDJSON files in the order of their names
 */
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PinakesError, show } from "../../domain/errors.ts";
import type { Metric } from "../row.ts";
import { ChromaDirectory, chromaFile, type ChromaChoice } from "./chroma.ts";
import type { ForeignRow } from "./foreign-row.ts";
import { intakeLimits } from "./limits.ts";
import { isNdjson, readNdjson } from "./ndjson.ts";
import type { SourceReader } from "./reader.ts";

export interface Source extends AsyncDisposable {
  readonly key: string;
  /** If the producer's own settings have it; NOT_SUPPORTED if Pinakes does not have that one. */
  metric(): Metric | undefined;
  /** Files beside the data that were not read, and are reported. */
  readonly ignored: readonly string[];
  /** The same rows in the same order every time. */
  rows(): AsyncGenerator<ForeignRow>;
}

interface Wanted {
  /** The key, and the path below the copy's folder. */
  readonly files: readonly { readonly key: string; readonly path: string }[];
  readonly kind: "chroma" | "ndjson";
  readonly ignored: readonly string[];
}

/** Of a Chroma directory: the database with its log, and the files of its indexes. No other name ever becomes a path. */
const chromaFiles =
  /^(?:chroma\.sqlite3(?:-wal)?|(?:index\/)?[0-9A-Fa-f-]{36}\/(?:header\.bin|data_level0\.bin|index_metadata\.pickle))$/;
const chromaRest = /^(?:chroma\.sqlite3-shm|(?:index\/)?[0-9A-Fa-f-]{36}\/(?:length|link_lists)\.bin)$/;

export async function openSource(
  reader: SourceReader,
  key: string,
  choice: ChromaChoice,
  signal?: AbortSignal,
): Promise<Source> {
  const wanted = await choose(reader, key, signal);
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "pinakes-intake-"));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  let left = intakeLimits.sourceBytesMax;
  for (const { key: from, path } of wanted.files) left -= await copy(reader, from, join(folder, path), left, signal);
  const chroma = wanted.kind === "chroma" ? undo.use(new ChromaDirectory(folder, key, choice)) : undefined;
  const kept = undo.move();
  return {
    key,
    metric: () => chroma?.metric(),
    ignored: wanted.ignored,
    rows: () => chroma?.rows() ?? ndjsonRows(folder, wanted),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function* ndjsonRows(folder: string, { files }: Wanted): AsyncGenerator<ForeignRow> {
  for (const { key, path } of files) yield* readNdjson(join(folder, path), key);
}

async function choose(reader: SourceReader, key: string, signal: AbortSignal | undefined): Promise<Wanted> {
  if (!key.endsWith("/")) {
    if (key.endsWith(".parquet")) throw parquet(key);
    if (!isNdjson(key)) throw unknown(key, "it ends neither in .jsonl or .ndjson, nor in /");
    return { files: [{ key, path: "0" }], kind: "ndjson", ignored: [] };
  }
  const names: string[] = [];
  for await (const { key: found } of reader.list(key, signal)) {
    names.push(found.slice(key.length));
    if (names.length > intakeLimits.sourceFilesMax)
      throw new PinakesError("LIMIT_EXCEEDED", `${key}: has more than ${intakeLimits.sourceFilesMax} files.`);
  }
  if (names.length === 0) throw missing(key);
  return chooseAmong(key, names);
}

function chooseAmong(key: string, names: readonly string[]): Wanted {
  const rest = (read: readonly string[]) =>
    names.filter((name) => !read.includes(name) && !chromaRest.test(name)).map((name) => key + name);
  if (names.includes(chromaFile)) {
    const read = names.filter((name) => chromaFiles.test(name));
    return { files: read.map((name) => ({ key: key + name, path: name })), kind: "chroma", ignored: rest(read) };
  }
  const parquetName = names.find((name) => name.endsWith(".parquet"));
  if (parquetName !== undefined) throw parquet(key + parquetName);
  const read = names.filter((name) => isNdjson(name));
  if (read.length === 0) throw unknown(key, `it has ${show(names.slice(0, 5))}, but neither ${chromaFile} nor NDJSON`);
  return { files: read.map((name, i) => ({ key: key + name, path: String(i) })), kind: "ndjson", ignored: rest(read) };
}

async function copy(
  reader: SourceReader,
  key: string,
  path: string,
  bytesMax: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const stream = await reader.stream(key, signal);
  if (stream === undefined) throw missing(key);
  await mkdir(dirname(path), { recursive: true });
  let bytes = 0;
  async function* counted(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax)
        throw new PinakesError(
          "LIMIT_EXCEEDED",
          `${key}: a snapshot or delta may have ${intakeLimits.sourceBytesMax} bytes; split it into several deltas.`,
        );
      yield chunk;
    }
  }
  await pipeline(
    Readable.from(counted(stream), { objectMode: true }),
    createWriteStream(path),
    signal === undefined ? {} : { signal },
  );
  return bytes;
}

function missing(key: string): PinakesError {
  return new PinakesError("NOT_FOUND", `${key}: there is no such object. Upload it completely, then announce it.`);
}

function unknown(key: string, why: string): PinakesError {
  return new PinakesError(
    "NOT_SUPPORTED",
    `${key}: ${why}. Provide rows as NDJSON, or a directory that Chroma 0.4 or later wrote.`,
  );
}

function parquet(key: string): PinakesError {
  return new PinakesError(
    "NOT_SUPPORTED",
    `${key}: Parquet files of Chroma before 0.4 cannot be read. Convert them to NDJSON, one row per line: { "id", "embedding", "document", "metadata" }.`,
  );
}
