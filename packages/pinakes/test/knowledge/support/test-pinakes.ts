/** A complete Pinakes on the stores of deployments, with its background work, the real local model and the real parsers. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Caller, CallerInput } from "../../../src/domain/caller.ts";
import { open, type OpenOptions, type Pinakes } from "../../../src/open.ts";
import type { DocumentView, Knowledge, UploadInput } from "../../../src/knowledge/index.ts";
import { until } from "../../support/until.ts";
import { itemsOf } from "../../../src/runtime/pages.ts";

export const engines = ["memory", "sqlite"] as const;
export type Engine = (typeof engines)[number];

export interface TestPinakes extends AsyncDisposable {
  readonly pinakes: Pinakes;
  readonly knowledge: Knowledge;
  readonly admin: Caller;
  /** The folder of SQLite and of the objects. */
  readonly dir: string;
  readonly lines: readonly string[];
  /** How another process opens the same data. */
  readonly stores: Pick<OpenOptions, "dir" | "items" | "objects" | "database">;
  /** Of the workspace `acme`, by default a plain user. */
  as(userId: string, who?: Partial<CallerInput>): Caller;
}

/** Memory for both, or SQLite with a folder; other stores by their addresses. */
export async function openTestPinakes(engine: Engine | "elsewhere", options: OpenOptions = {}): Promise<TestPinakes> {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-knowledge-"));
  const lines: string[] = [];
  // Each open of a shared server is a separate store, with its own objects.
  const own = { objects: `file:${join(dir, "objects")}`, database: `test-${randomUUID()}` };
  const stores = engine === "memory" ? { items: "memory:", objects: "memory:" } : engine === "elsewhere" ? own : {};
  const names = ["items", "objects", "database"] as const;
  const chosen = Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const pinakes = await open({ dir, ...stores, log: (line) => void lines.push(line), ...options });
  const as = (userId: string, who: Partial<CallerInput> = {}) => pinakes.as({ tenant: "acme", userId, ...who });
  return {
    pinakes,
    knowledge: pinakes.knowledge,
    admin: as("root", { role: "admin" }),
    dir,
    lines,
    stores: { dir, ...stores, ...chosen },
    as,
    [Symbol.asyncDispose]: async () => {
      await pinakes.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Bytes in chunks, as they arrive over a network. */
export async function* body(content: string | Uint8Array, pieceBytes = 65_536): AsyncGenerator<Uint8Array> {
  const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** A caller and a collection. */
export interface Place {
  readonly knowledge: Knowledge;
  readonly caller: Caller;
  readonly repository: string;
  readonly collection: string;
}

export async function newPlace(test: TestPinakes, name = "Papers", caller = test.admin): Promise<Place> {
  const repository = `r-${Math.random().toString(36).slice(2, 10)}`;
  await test.knowledge.repositories.create(test.admin, { repository_id: repository });
  const { collection_id } = await test.knowledge.collections.create(caller, repository, { name });
  return { knowledge: test.knowledge, caller, repository, collection: collection_id };
}

export async function upload(
  place: Place,
  name: string,
  content: string | Uint8Array,
  more: Partial<UploadInput> = {},
) {
  return place.knowledge.documents.upload(place.caller, place.repository, place.collection, {
    name,
    body: body(content),
    ...more,
  });
}

export async function settled(place: Place, documentId: string): Promise<DocumentView> {
  return until(async () => {
    const document = await place.knowledge.documents.get(place.caller, place.repository, place.collection, documentId);
    return document.status === "indexed" || document.status === "failed" ? document : undefined;
  });
}

export async function uploaded(
  place: Place,
  name: string,
  content: string | Uint8Array,
  more: Partial<UploadInput> = {},
): Promise<DocumentView> {
  return settled(place, (await upload(place, name, content, more)).document_id);
}

export async function texts(place: Place, query: string, more: object = {}): Promise<string[]> {
  const collections = [{ repository: place.repository, collection: place.collection }];
  const { hits } = await place.knowledge.search.run(place.caller, { query, collections, limit: 50, ...more });
  return hits.map(({ text }) => text);
}

/** The counters, and the counts of the documents. */
export async function recount(place: Place): Promise<{ told: object; counted: object }> {
  const { knowledge, caller, repository, collection } = place;
  const documents = await Array.fromAsync(
    itemsOf((cursor) => knowledge.documents.list(caller, repository, collection, { limit: 100, cursor })),
  );
  const view = await knowledge.collections.get(caller, repository, collection);
  const { document_count, total_size_bytes, chunk_count, documents_by_status } = view;
  const sum = (of: (document: DocumentView) => number) =>
    documents.reduce((total, document) => total + of(document), 0);
  const by = (status: string) => documents.filter((document) => document.status === status).length;
  return {
    told: { document_count, total_size_bytes, chunk_count, documents_by_status },
    counted: {
      document_count: documents.length,
      total_size_bytes: sum((document) => document.size_bytes),
      chunk_count: sum((document) => document.chunk_count),
      documents_by_status: {
        uploading: by("uploading"),
        pending: by("pending"),
        indexing: by("indexing"),
        indexed: by("indexed"),
        failed: by("failed"),
      },
    },
  };
}

export async function walk<View>(
  list: (cursor: string | undefined) => Promise<{ items: readonly View[]; next_cursor: string | null }>,
): Promise<View[]> {
  return Array.fromAsync(itemsOf((cursor) => list(cursor)));
}
