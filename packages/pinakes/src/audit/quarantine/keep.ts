/**
 * Keeps what a repair is about to remove. True: the copy is durable and complete, and the caller may remove the original. False: the
 * collection ended concurrently; nothing was kept, and nothing may be removed. A crash in between leaves both.
 */
import { createHash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Incarnation } from "../../lifecycle/index.ts";
import { isLive, type CatalogRecords } from "../../knowledge/records/catalog-records.ts";
import { isoTime } from "../../knowledge/records/times.ts";
import type { KnowledgeDependencies } from "../../knowledge/dependencies.ts";
import { pagesOf } from "../../runtime/pages.ts";
import { entryHash, keysOf, newEntry, removeEntry, writeEntry, type StoredEntry } from "./entry.ts";
import { quarantineLimits } from "./limits.ts";
import { rowLine, writeLines, type QuadLine, type RowLine } from "./lines.ts";

export interface KeepDependencies {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
}

/** Who repairs, and what. */
export interface Keeping {
  readonly scope: Scope;
  readonly incarnation: Incarnation;
  readonly documentId: string | null;
  readonly jobId: string | null;
  readonly detail: string;
}

type About = Pick<StoredEntry, "kind" | "store" | "target" | "count">;

export function retentionOf({
  quarantineMs = quarantineLimits.retentionMs,
}: Pick<KnowledgeDependencies, "quarantineMs">): number {
  return quarantineMs;
}

export async function keepObject(services: KeepDependencies, keeping: Keeping, key: string): Promise<boolean> {
  const { objects } = services.deps;
  const head = await objects.head(keeping.scope, key);
  const body = head === undefined ? undefined : await objects.stream(keeping.scope, key);
  if (head === undefined || body === undefined) return false;
  return store(services, keeping, { kind: "object", store: "objects", target: key, count: 1 }, head.etag, body);
}

/** Rows of one vector collection by id; rows that no longer exist need no copy. */
export async function keepRows(
  services: KeepDependencies,
  keeping: Keeping,
  vectors: string,
  ids: readonly string[],
): Promise<boolean> {
  const lines = () => writeLines("rows", vectors, rowsOf(services.deps, keeping.scope, vectors, ids));
  return store(
    services,
    keeping,
    { kind: "rows", store: "vectors", target: vectors, count: ids.length },
    await digest(lines()),
    lines(),
  );
}

/** Everything that one source supports. */
export async function keepTriples(services: KeepDependencies, keeping: Keeping, source: string): Promise<boolean> {
  const lines = () => writeLines("triples", source, quadsOf(services.deps, keeping, source));
  let count = 0;
  for await (const _ of quadsOf(services.deps, keeping, source)) count += 1;
  return store(
    services,
    keeping,
    { kind: "triples", store: "triples", target: source, count },
    await digest(lines()),
    lines(),
  );
}

/**
 * Whole vector collections stay in place: they are trashed, which can be undone until the given time, and then purged (RFC 0001, "Delete").
 * The entry is written first.
 */
export async function keepGeneration(services: KeepDependencies, keeping: Keeping, vectors: string): Promise<boolean> {
  const { deps } = services;
  const { liveRows } = await deps.vectors.stats(keeping.scope, vectors);
  const entry = entryOf(
    services,
    keeping,
    { kind: "generation", store: "vectors", target: vectors, count: liveRows },
    entryHash("generation", vectors),
    0,
    null,
  );
  if (!(await committed(services, keeping, entry))) return false;
  await deps.vectors.delete(keeping.scope, vectors, { purgeAt: Date.parse(entry.expires_at) });
  return true;
}

async function store(
  services: KeepDependencies,
  keeping: Keeping,
  about: About,
  identity: string,
  body: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  const hash = entryHash(about.kind, about.target, keeping.documentId ?? "", identity);
  const sum = createHash("sha256");
  const id = `${keeping.incarnation.incarnation}.${hash}`;
  const { bytes } = await services.deps.objects.put(keeping.scope, keysOf(id).data, passed(body, sum));
  const sha256 = sum.digest("hex");
  // For rows and triples the identity is the hash of a first pass: if they changed between the passes, the next repair checks again.
  if (about.kind !== "object" && sha256 !== identity)
    throw new PinakesError("UNAVAILABLE", `"${about.target}" changed while it was copied; repair again.`);
  return committed(services, keeping, entryOf(services, keeping, about, hash, bytes, sha256));
}

function entryOf(
  { deps }: KeepDependencies,
  { incarnation: { repository_id, collection_id, incarnation }, documentId, jobId, detail }: Keeping,
  about: About,
  hash: string,
  bytes: number,
  sha256: string | null,
): StoredEntry {
  const now = deps.clock.now();
  return newEntry({
    entry_id: `${incarnation}.${hash}`,
    ...about,
    repository_id,
    collection_id,
    incarnation,
    document_id: documentId,
    detail,
    bytes,
    sha256,
    job_id: jobId,
    quarantined_at: isoTime(now),
    expires_at: isoTime(now + retentionOf(deps)),
    restored_at: null,
  });
}

/** A concurrent purge listed the quarantine before this entry existed: nothing of an ended collection may be kept. */
async function committed(
  { deps, catalog }: KeepDependencies,
  { scope, incarnation }: Keeping,
  entry: StoredEntry,
): Promise<boolean> {
  invariant(entry.sha256 !== null || entry.bytes === 0, "INTERNAL", "a copy without a checksum");
  await writeEntry(deps.objects, scope, entry);
  const record = (await catalog.incarnation(scope, incarnation))?.record;
  if (record !== undefined && isLive(record)) return true;
  await removeEntry(deps.objects, scope, entry.entry_id);
  return false;
}

async function* rowsOf(
  { vectors }: KnowledgeDependencies,
  scope: Scope,
  name: string,
  ids: readonly string[],
): AsyncGenerator<RowLine> {
  for (let at = 0; at < ids.length; at += quarantineLimits.rowsMax)
    for (const row of await vectors.get(scope, name, ids.slice(at, at + quarantineLimits.rowsMax)))
      if (row !== undefined) yield rowLine(row);
}

async function* quadsOf(
  { triples }: KnowledgeDependencies,
  { scope, incarnation }: Keeping,
  source: string,
): AsyncGenerator<QuadLine> {
  for await (const page of pagesOf((cursor) =>
    triples.ofSource(scope, incarnation.incarnation, source, {
      limit: quarantineLimits.quadsMax,
      cursor,
    }),
  )) {
    yield* page.quads;
  }
}

async function digest(body: AsyncIterable<Uint8Array>): Promise<string> {
  const sum = createHash("sha256");
  for await (const piece of body) sum.update(piece);
  return sum.digest("hex");
}

async function* passed(
  body: AsyncIterable<Uint8Array>,
  sum: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    sum.update(piece);
    yield piece;
  }
}
