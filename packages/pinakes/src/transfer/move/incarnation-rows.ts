/**
 * All contents of an incarnation, row by row, for comparing two of them: settings, counters, records, bytes, chunks, callers' own rows,
 * quads with their supports and whether they were asserted. With `names` the rows are mapped to the target.
 */
import { createHash } from "node:crypto";
import { hasCode } from "../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item } from "../../ports/item-store.ts";
import { emptyStats, CollectionPartition } from "../../knowledge/records/collection-partition.ts";
import { documentsContainer, type CollectionRecord } from "../../knowledge/records/records.ts";
import { ownVectorsName } from "../../knowledge/records/raw-vectors-name.ts";
import type { KnowledgeDependencies } from "../../knowledge/dependencies.ts";
import type { MovedNames } from "./moved-names.ts";

/** A heartbeat, called often, also during a single long row. Its result, if any, must be awaited. */
export type Beat = () => Promise<void> | undefined;

export interface IncarnationRow {
  readonly key: string;
  readonly value: JsonValue;
}

export interface IncarnationToRead {
  readonly scope: Scope;
  readonly record: CollectionRecord;
  /** Absent: unmapped. */
  readonly names?: MovedNames | undefined;
  readonly signal: AbortSignal;
  readonly beat?: Beat | undefined;
  /** Reports rows that would be ambiguous in the target. */
  readonly problem?: ((where: string, reason: string) => void) | undefined;
}

export type IncarnationStores = Pick<KnowledgeDependencies, "items" | "objects" | "vectors" | "triples">;

const itemsPerPage = 100;
const quadsPerPage = 1_000;
/** The store lists at most this many supports of a quad (ports/triple-store.ts). */
const supportsOfQuadMax = 1_000;
/** Fences and counters are created, those of access changes with the first restricted document; removals and abandoned preparations are executed before: none of them is moved. */
const movedKinds: ReadonlySet<unknown> = new Set(["document", "source", "kept", "restricted"]);

export async function* incarnationRows(
  deps: IncarnationStores,
  incarnation: IncarnationToRead,
): AsyncGenerator<IncarnationRow> {
  yield* recordRows(deps, incarnation);
  for await (const { document } of incarnationItems(deps, incarnation)) {
    const {
      id,
      repository_id: _,
      incarnation: _life,
      ...rest
    } = incarnation.names?.item(document) ?? (document as JsonObject & { readonly id: string });
    yield { key: id, value: rest };
  }
  yield* objectRows(deps, incarnation);
  yield* vectorRows(deps, incarnation);
  yield* quadRows(deps, incarnation);
}

/** The moved items of an incarnation's partition, ordered by id. */
export async function* incarnationItems(
  { items }: Pick<IncarnationStores, "items">,
  { scope, record, signal }: IncarnationToRead,
  after?: string,
): AsyncGenerator<Item> {
  const { repository_id, incarnation } = record;
  for (let last = after; ;) {
    signal.throwIfAborted();
    const range = last === undefined ? {} : { range: { gt: last } };
    const page = await items.query(scope, documentsContainer.name, {
      equals: { repository_id, incarnation },
      ...range,
      limit: itemsPerPage,
    });
    for (const item of page.items) if (movedKinds.has(item.document["kind"])) yield item;
    last = page.items.at(-1)?.id;
    if (page.cursor === undefined || last === undefined) return;
  }
}

/** The settings of a collection, independent of its location; its name may have to wait until the old one is gone. */
export function settingsOf(record: CollectionRecord): Partial<CollectionRecord> {
  return {
    description: record.description,
    chunking_strategy: record.chunking_strategy,
    allow_chunking_override: record.allow_chunking_override,
    graph: record.graph ?? null,
    metadata: record.metadata,
    allowed_groups: record.allowed_groups,
    embedding_model: record.embedding_model,
    private: record.private,
    pipelines: record.pipelines,
    ...(record.access_rules === undefined ? {} : { access_rules: record.access_rules }),
    created_by: record.created_by,
    created_at: record.created_at,
  };
}

async function* recordRows(
  { items }: IncarnationStores,
  { scope, record }: IncarnationToRead,
): AsyncGenerator<IncarnationRow> {
  const partition = new CollectionPartition(items, scope, record);
  const { generation = 1, embedding_model = record.embedding_model } = (await partition.fence())?.record ?? {};
  const {
    last_used_at: _,
    kind: _kind,
    ...counters
  } = ((await partition.stats())?.record ?? emptyStats) as unknown as JsonObject;
  const { repository_id: _repository, incarnation: _life, ...counted } = counters;
  yield { key: "settings", value: settingsOf(record) as unknown as JsonObject };
  yield { key: "generation", value: { generation, embedding_model } };
  yield { key: "counters", value: counted };
}

async function* objectRows(
  { items, objects }: IncarnationStores,
  { scope, record, signal, beat }: IncarnationToRead,
): AsyncGenerator<IncarnationRow> {
  const { prefix } = new CollectionPartition(items, scope, record);
  for (let after: string | undefined; ;) {
    const page = await objects.list(scope, prefix, { signal, after });
    for (const { key, bytes } of page.keys) {
      const digest = createHash("sha256");
      for await (const chunk of alive((await objects.stream(scope, key, { signal })) ?? noPieces(), beat))
        digest.update(chunk);
      yield { key: `object ${key.slice(prefix.length)}`, value: [bytes, digest.digest("hex")] };
    }
    after = page.next;
    if (after === undefined) return;
  }
}

async function* noPieces(): AsyncGenerator<Uint8Array> {}

/** Chunks of an object, or rows, with a heartbeat each: all of them may take longer than a lease. */
export async function* alive<Piece>(services: AsyncIterable<Piece>, beat: Beat | undefined): AsyncGenerator<Piece> {
  for await (const piece of services) {
    yield piece;
    const waiting = beat?.();
    if (waiting !== undefined) await waiting;
  }
}

async function* vectorRows(
  deps: IncarnationStores,
  { scope, record, names, signal }: IncarnationToRead,
): AsyncGenerator<IncarnationRow> {
  const partition = new CollectionPartition(deps.items, scope, record);
  const passages = partition.vectors((await partition.fence())?.record.generation ?? 1);
  for (const [kind, name] of [
    ["passage", passages],
    ["row", ownVectorsName(record.incarnation)],
  ] as const) {
    const settings = await settingsOfVectors(deps, scope, name);
    if (settings === undefined) continue;
    let rows = 0;
    for await (const { id, vector, text, metadata } of deps.vectors.rows(scope, name)) {
      if ((rows += 1) % itemsPerPage === 0) signal.throwIfAborted();
      const told = kind === "passage" && names !== undefined ? names.passage(metadata) : metadata;
      const floats = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
      yield { key: `${kind} ${id}`, value: [floats, text ?? null, told] };
    }
    // Vectors without rows count as none.
    if (rows > 0) yield { key: `${kind}s`, value: { ...settings } };
  }
}

/** Undefined if there are none. */
export async function settingsOfVectors({ vectors }: Pick<IncarnationStores, "vectors">, scope: Scope, name: string) {
  try {
    return (await vectors.stats(scope, name)).settings;
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return undefined;
    throw error;
  }
}

async function* quadRows(
  { triples }: IncarnationStores,
  { scope, record, names, signal, problem }: IncarnationToRead,
): AsyncGenerator<IncarnationRow> {
  const space = record.incarnation;
  let told = 0;
  let full: string | undefined;
  for (let cursor: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await triples.match(scope, space, {}, { limit: quadsPerPage, cursor });
    const supports = await triples.supports(scope, space, page.quads);
    const asserted = await triples.asserted(scope, space, page.quads);
    for (const [i, quad] of page.quads.entries()) {
      const { s, p, o, g } = names?.quad(quad) ?? quad;
      const key = JSON.stringify([s, p, o, g]);
      if (names?.isOfTarget(quad) === true) problem?.(key, "refers to an entity of the target; choose another id.");
      const own = supports[i] ?? [];
      told += own.length;
      if (own.length === supportsOfQuadMax) full ??= key;
      yield { key, value: { asserted: asserted[i] === true, supports: own.map(({ source, part }) => [source, part]) } };
    }
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  // More supports than can be listed must not be lost silently.
  const { quads, supports } = await triples.usage(scope, space);
  if (full !== undefined && told < supports)
    problem?.(
      full,
      `has more than ${supportsOfQuadMax} supporting sources, which cannot be moved; remove it, or some of the documents.`,
    );
  yield { key: "triples", value: { quads, supports } };
}
