/** Rows in files as exported by Pinecone and others: JSON Lines or Parquet with id, values and metadata. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { FoundUnit, UnitName } from "../source.ts";
import { readJsonLines } from "./json-lines.ts";
import { readParquet } from "./parquet.ts";
import type { ForeignRow, RowReader } from "./row-reader.ts";
import type { RowsSpec } from "./spec.ts";

const known = /\.(?:jsonl|ndjson|parquet)$/;

export class FileReader implements RowReader {
  readonly #root: string;
  readonly #files: readonly string[];
  readonly #spec: RowsSpec;

  private constructor(root: string, files: readonly string[], spec: RowsSpec) {
    this.#root = root;
    this.#files = files;
    this.#spec = spec;
  }

  static async open(path: string, spec: RowsSpec): Promise<FileReader> {
    if ((spec.repository === undefined) === (spec.user === undefined))
      throw invalid('source: give one of "repository" and "user".');
    const found = await stat(path).catch((error: unknown) => {
      throw new PinakesError("NOT_FOUND", `${path}: cannot be read: ${(error as Error).message}.`, { cause: error });
    });
    const names = found.isDirectory() ? (await readdir(path)).filter((one) => known.test(one)).toSorted() : [""];
    if (names.length === 0) throw invalid(`${path}: has no file that ends in .jsonl, .ndjson or .parquet.`);
    if (!found.isDirectory() && !known.test(path))
      throw invalid(`${path}: ends neither in .jsonl or .ndjson, nor in .parquet.`);
    return new FileReader(path, names, spec);
  }

  async *units(): AsyncGenerator<FoundUnit> {
    const { collection, repository, user } = this.#spec;
    const target = (id: string) => ({ ...(repository === undefined ? { user } : { repository }), collection: id });
    if (collection !== undefined) yield { name: "all", target: target(collection), keep: [...this.#files] };
    else
      for (const file of this.#files)
        yield { name: this.#nameOf(file), target: target(this.#nameOf(file).replace(known, "")), keep: [file] };
  }

  /** Of the planned files, ordered by name. */
  async *rows({ keep }: UnitName, signal: AbortSignal): AsyncGenerator<ForeignRow> {
    for (const file of keep as readonly string[]) {
      signal.throwIfAborted();
      const path = file === "" ? this.#root : join(this.#root, file);
      yield* path.endsWith(".parquet")
        ? readParquet(path, this.#nameOf(file))
        : readJsonLines(path, this.#nameOf(file));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #nameOf(file: string): string {
    return file === "" ? basename(this.#root) : file;
  }
}
