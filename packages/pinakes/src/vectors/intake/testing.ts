/** For tests: real Chroma directories (test/fixtures/chroma), and a Pinakes of their own. */
import { readFile, readdir } from "node:fs/promises";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Scope } from "../../domain/scope.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { ForeignRow } from "./foreign-row.ts";

export type ChromaFixture = "queue" | "hnsw-l2" | "hnsw-cosine";

export interface PlainRow {
  readonly id: string;
  readonly vector: readonly number[];
  readonly text: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

const fixtures = fileURLToPath(new URL("../../../test/fixtures/chroma/", import.meta.url));

/** The files of the directory as Chroma wrote them, by their paths. */
export async function chromaFiles(fixture: ChromaFixture): Promise<Map<string, Uint8Array>> {
  const root = join(fixtures, fixture);
  const files = new Map<string, Uint8Array>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".gz")) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(root, path).slice(0, -".gz".length), gunzipSync(await readFile(path)));
  }
  return files;
}

/** What Chroma itself answered when it was asked for everything. */
export async function chromaAnswer(fixture: ChromaFixture): Promise<PlainRow[]> {
  return JSON.parse(await readFile(join(fixtures, fixture, "expected.json"), "utf8")) as PlainRow[];
}

export async function putFiles(objects: ObjectStore, scope: Scope, prefix: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const [path, bytes] of files) await objects.put(scope, prefix + path, bytes);
}

export async function tempFolder(files: ReadonlyMap<string, Uint8Array | string> = new Map()): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "pinakes-test-"));
  for (const [name, content] of files) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Rows in the form of Chroma's own answer, by id. */
export async function plainRows(rows: AsyncIterable<ForeignRow>): Promise<PlainRow[]> {
  const plain: PlainRow[] = [];
  for await (const { op, row } of rows) {
    if (op !== "put") throw new Error(`a ${op} where only puts are expected`);
    plain.push({ id: row.id, vector: [...row.vector], text: row.text ?? null, metadata: row.metadata ?? {} });
  }
  return byId(plain);
}

export function byId<R extends { readonly id: string }>(rows: readonly R[]): R[] {
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
