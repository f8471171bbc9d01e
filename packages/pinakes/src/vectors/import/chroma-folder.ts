/** A folder of Chroma with all its collections: for importing all of them, and not only one snapshot. */
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PinakesError } from "../../domain/errors.ts";
import { ChromaTables } from "./chroma-tables.ts";
import { chromaFile } from "./chroma.ts";
import type { UpsertRow } from "../log/rows.ts";
import { folderReader, type SourceReader } from "./reader.ts";
import { openSource } from "./source.ts";

const inside = "chroma/";

/** The names of its collections. */
export async function chromaCollections(folder: string): Promise<readonly string[]> {
  const path = join(folder, chromaFile);
  const copy = await mkdtemp(join(tmpdir(), "pinakes-chroma-"));
  try {
    await copyFile(path, join(copy, chromaFile)).catch((error: unknown) => {
      throw new PinakesError(
        "NOT_FOUND",
        `${path}: cannot be read: ${(error as Error).message}. Name the folder that contains ${chromaFile}.`,
        { cause: error },
      );
    });
    if (await stat(`${path}-wal`).catch(() => undefined))
      await copyFile(`${path}-wal`, join(copy, `${chromaFile}-wal`));
    const db = new DatabaseSync(join(copy, chromaFile));
    try {
      return new ChromaTables(db, path).collections().map(({ name }) => name);
    } catch (error) {
      if (PinakesError.isInstance(error)) throw error;
      throw new PinakesError(
        "CORRUPT",
        `${path}: cannot be read as a database of Chroma: ${(error as Error).message}.`,
        { cause: error },
      );
    } finally {
      db.close();
    }
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Every row of one collection, from a copy that cannot change meanwhile. */
export async function* chromaRows(
  folder: string,
  collection: string,
  signal?: AbortSignal,
): AsyncGenerator<{ readonly row: UpsertRow; readonly where: string }> {
  const files = folderReader(folder);
  // A source is a path inside of a folder: this one is the whole.
  const reader: SourceReader = {
    async *list(prefix, stop) {
      for await (const { key, bytes } of files.list("", stop))
        if (`${inside}${key}`.startsWith(prefix)) yield { key: `${inside}${key}`, bytes };
    },
    stream: (key, stop) => files.stream(key.slice(inside.length), stop),
  };
  await using source = await openSource(reader, inside, { collection, preferred: collection }, signal);
  for await (const foreign of source.rows()) if (foreign.op === "put") yield { row: foreign.row, where: foreign.where };
}
