/** For tests: real Chroma directories (test/fixtures/chroma), and an isolated Pinakes. */
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { PinakesError } from "../../domain/errors.ts";
import { systemScope, tenantScope, type Scope } from "../../domain/scope.ts";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import { openMemoryObjects } from "../../drivers/memory-objects/index.ts";
import { openSqliteItems } from "../../drivers/sqlite/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { openVectors, type OpenedVectors } from "../open-vectors.ts";
import type { Vectors } from "../vectors.ts";
import type { ForeignRow } from "./foreign-row.ts";

export type ChromaFixture = "queue" | "hnsw-l2" | "hnsw-cosine" | "lists";

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

/** What Chroma itself answered to a request for everything. */
export async function chromaAnswer(fixture: ChromaFixture): Promise<PlainRow[]> {
  return JSON.parse(await readFile(join(fixtures, fixture, "expected.json"), "utf8")) as PlainRow[];
}

export async function putFiles(
  objects: ObjectStore,
  scope: Scope,
  prefix: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  for (const [path, bytes] of files) await objects.put(scope, prefix + path, bytes);
}

export async function tempFolder(
  files: ReadonlyMap<string, Uint8Array | string> = new Map(),
): Promise<AsyncDisposable & { readonly path: string }> {
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

/** The error of a rejected call. */
export async function refusal(call: () => unknown): Promise<PinakesError> {
  try {
    await call();
  } catch (error) {
    if (PinakesError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("expected an error");
}

export interface Stores {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
}

export const acme: Scope = tenantScope("acme");

/** Stores that outlive the processes of a test. */
export async function openStores(engine: "memory" | "sqlite", clock?: Clock): Promise<Stores & AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const timing = clock === undefined ? {} : { clock };
  const objects = stack.use(openMemoryObjects(timing));
  const folder = engine === "sqlite" ? stack.use(await tempFolder()) : undefined;
  const items = stack.use(
    folder === undefined
      ? await openMemoryItems(timing)
      : await openSqliteItems({ dir: folder.path, database: "test", ...timing }),
  );
  return { items, objects, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** The vectors as one process has them. */
export async function openProcess({ items, objects }: Stores, clock?: Clock): Promise<OpenedVectors & AsyncDisposable> {
  const opened = await openVectors({
    items,
    objects,
    system: systemScope("test", () => {}),
    threads: 1,
    clock,
  });
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() };
}

/** Stores of a process that dies at its nth call: before the call, or after it, with the answer lost. */
export function dying(
  { items, objects }: Stores,
  at: number,
  moment: "before" | "after",
): Stores & { readonly calls: () => number } {
  let calls = 0;
  const wrap = <T extends object>(store: T): T =>
    new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...values: unknown[]) => {
          calls += 1;
          const last = calls === at;
          if (calls > at || (last && moment === "before")) throw new Error("the process has ended");
          const result: unknown = await Reflect.apply(value, target, values);
          if (last) throw new Error("the process has ended");
          return result;
        };
      },
    });
  return { items: wrap(items), objects: wrap(objects), calls: () => calls };
}

export async function allRows(vectors: Vectors, collection: string): Promise<PlainRow[]> {
  const rows: PlainRow[] = [];
  for await (const { id, vector, text, metadata } of vectors.rows(acme, collection))
    rows.push({ id, vector: [...vector], text: text ?? null, metadata });
  return byId(rows);
}

export function ndjson(rows: readonly object[]): Uint8Array {
  return Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n"), "utf8");
}
