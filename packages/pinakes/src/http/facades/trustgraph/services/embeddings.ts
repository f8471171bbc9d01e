/**
 * Vectors computed by clients: of entities, which are found by vector search, and of text chunks. They are rows of the collection and share
 * its access rights and deletion; the id of a row is a hash of its content, so sending it again changes nothing.
 */
import { hash } from "node:crypto";
import { hasCode, invalid } from "../../../../domain/errors.ts";
import type { JsonObject } from "../../../../domain/json.ts";
import {
  chunkMetadata,
  entityMetadata,
  personalAlias,
  type Knowledge,
  type StoredTerm,
} from "../../../../knowledge/index.ts";
import type { Call, Request } from "../call.ts";
import { integer, optionalText, records, text, vectors } from "../fields.ts";
import { readTerm, writeTerm } from "../terms.ts";
import type { Message, Service, ServiceDependencies } from "./service.ts";

type Vectors = readonly (readonly number[])[];
export interface EntityVectors {
  readonly entity: StoredTerm;
  readonly vectors: Vectors;
}
export interface ChunkVectors {
  /** The id of the chunk, or its text in the older version. */
  readonly chunk: string;
  readonly text: boolean;
  readonly vectors: Vectors;
}

const hitsMax = 1_000;
/** More than requested: an entity may have several vectors. */
const spare = 3;
const rowsPerWrite = 1_000;

export function readEntities(request: Request): EntityVectors[] {
  return ofOneSize(
    records(request, "entities").map((one, i) => ({
      entity: readTerm(one["entity"], `entities[${i}].entity`),
      vectors: vectors(one, `entities[${i}]`),
    })),
  );
}

export function readChunks(request: Request): ChunkVectors[] {
  return ofOneSize(
    records(request, "chunks").map((one, i) => {
      const byId = typeof one["chunk_id"] === "string" && one["chunk_id"] !== "";
      return { chunk: text(one, byId ? "chunk_id" : "chunk"), text: !byId, vectors: vectors(one, `chunks[${i}]`) };
    }),
  );
}

/** Rejected before anything is stored; otherwise the store would accept the first part. */
function ofOneSize<Row extends { readonly vectors: Vectors }>(rows: Row[]): Row[] {
  const sizes = new Set(rows.flatMap((row) => row.vectors.map((vector) => vector.length)));
  if (sizes.size > 1) throw invalid(`vectors: have different sizes, ${[...sizes].join(", ")}; a collection has one.`);
  return rows;
}

export async function storeEntities(
  knowledge: Pick<Knowledge, "rows">,
  { caller }: Pick<Call, "caller">,
  collection: string,
  entities: readonly EntityVectors[],
): Promise<void> {
  const rows = entities.flatMap(({ entity, vectors: all }) => {
    const metadata = entityMetadata(entity);
    return all.map((vector) => ({ id: rowId(["entity", metadata["tg_term"], vector]), vector, metadata }));
  });
  await write(knowledge, caller, collection, rows);
}

export async function storeChunks(
  knowledge: Pick<Knowledge, "rows">,
  { caller }: Pick<Call, "caller">,
  collection: string,
  chunks: readonly ChunkVectors[],
): Promise<void> {
  const rows = chunks.flatMap(({ chunk, text: isText, vectors: all }) =>
    all.map((vector) => ({
      id: rowId(["chunk", chunk, vector]),
      vector,
      metadata: chunkMetadata(isText ? undefined : chunk),
      ...(isText ? { text: chunk } : {}),
    })),
  );
  await write(knowledge, caller, collection, rows);
}

async function write(
  { rows }: Pick<Knowledge, "rows">,
  caller: Call["caller"],
  collection: string,
  items: readonly { id: string; vector: readonly number[]; text?: string; metadata: JsonObject }[],
): Promise<void> {
  const once = [...new Map(items.map((item) => [item.id, item])).values()];
  for (let i = 0; i < once.length; i += rowsPerWrite)
    await rows.upsert(caller, personalAlias, collection, { items: once.slice(i, i + rowsPerWrite) });
}

function rowId(parts: readonly unknown[]): string {
  return `tg-${hash("sha256", JSON.stringify(parts), "hex").slice(0, 40)}`;
}

interface Found<What> {
  readonly what: What;
  readonly score: number;
}

/** The nearest rows of a kind, without duplicates, over all vectors of the request. A missing collection has none. */
async function nearest<What>(
  { rows }: Pick<Knowledge, "rows">,
  { caller, request }: Call,
  kind: "entity" | "chunk",
  what: (hit: { readonly text?: string; readonly metadata: Readonly<Record<string, unknown>> }) => What,
): Promise<readonly Found<What>[]> {
  const limit = integer(request, "limit", { min: 1, max: hitsMax, otherwise: 10 });
  const collection = optionalText(request, "collection", "default");
  const best = new Map<string, Found<What>>();
  for (const vector of vectors(request, "vectors")) {
    const query = { vector: [...vector], limit: Math.min(hitsMax, limit * spare), filter: { tg_kind: kind } };
    const hits = await rows.query(caller, personalAlias, collection, query).then(
      (answer) => answer.hits,
      (error: unknown) => {
        if (hasCode(error, "NOT_FOUND") || isUnknownField(error)) return [];
        throw error;
      },
    );
    for (const hit of hits) {
      const key = JSON.stringify([hit.metadata["tg_term"] ?? hit.metadata["tg_chunk"] ?? hit.text ?? hit.id]);
      const known = best.get(key);
      if (known === undefined || known.score < hit.score) best.set(key, { what: what(hit), score: hit.score });
    }
  }
  return [...best.values()].toSorted((a, b) => b.score - a.score).slice(0, limit);
}

/** Only rows of other programs: none of them has the field that our rows have. */
function isUnknownField(error: unknown): boolean {
  return hasCode(error, "INVALID") && (error as Error).message.includes("tg_kind");
}

export function graphEmbeddings({ knowledge }: ServiceDependencies): Service {
  return async (call) => {
    const found = await nearest(
      knowledge,
      call,
      "entity",
      ({ metadata }) => JSON.parse(String(metadata["tg_term"])) as StoredTerm,
    );
    // The newer client names one vector; intermediate versions send several, and read only terms.
    const scored = call.dialect === "new" && !("vectors" in call.request);
    const entities = found.map(({ what, score }) => {
      const entity = writeTerm(what, call.typed);
      return scored ? { entity, score } : entity;
    });
    return { entities };
  };
}

export function documentEmbeddings({ knowledge }: ServiceDependencies): Service {
  return async (call): Promise<Message> => {
    const found = await nearest(knowledge, call, "chunk", ({ text: words, metadata }) =>
      typeof metadata["tg_chunk"] === "string" ? { id: metadata["tg_chunk"] } : { text: words ?? "" },
    );
    if (call.dialect === "old" && !call.typed)
      return { chunks: found.map(({ what }) => what.text ?? what.id), ...chunkIds(found) };
    return {
      chunks: found.map(({ what, score }) => ({ chunk_id: what.id ?? "", ...textOf(what), score })),
      ...chunkIds(found),
    };
  };
}

interface Chunk {
  readonly id?: string | undefined;
  readonly text?: string | undefined;
}

function textOf({ text: words }: Chunk): { readonly chunk?: string } {
  return words === undefined ? {} : { chunk: words };
}

/** In the form of intermediate versions. */
function chunkIds(found: readonly Found<Chunk>[]): { readonly chunk_ids: readonly string[] } {
  return { chunk_ids: found.flatMap(({ what }) => what.id ?? []) };
}

export function embeddings({ knowledge }: ServiceDependencies): Service {
  return async ({ caller, request }) => {
    const sent = Array.isArray(request["texts"]) ? request["texts"] : [text(request, "text")];
    if (sent.length === 0) return { vectors: [] };
    const { vectors: made } = await knowledge.search.embed(caller, sent as readonly string[]);
    return { vectors: made.map((vector) => Array.from(vector)) };
  };
}
