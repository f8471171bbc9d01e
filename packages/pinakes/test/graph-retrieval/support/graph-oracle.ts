/** The expected contents of a graph, derived from the live chunks, and its actual contents. */
import type { Caller } from "../../../src/domain/caller.ts";
import type { Chunk } from "../../../src/domain/chunking.ts";
import type { Quad } from "../../../src/domain/rdf.ts";
import { effectiveGraph, extractDocument, type GraphSettings } from "../../../src/knowledge/extraction/index.ts";
import type { CollectionRecord, DocumentRecord, RepositoryRecord } from "../../../src/knowledge/records/records.ts";
import type { ItemStore } from "../../../src/ports/item-store.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";
import type { ParsedText } from "../../../src/ports/parser.ts";
import type { TripleStore } from "../../../src/ports/triple-store.ts";
import type { VectorRow, Vectors } from "../../../src/vectors/index.ts";
import { everyItem } from "../../../src/containers/every-item.ts";
import { pagesOf } from "../../../src/runtime/pages.ts";

export interface GraphStores {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly triples: TripleStore;
  readonly vectors: Vectors;
}

export interface GraphPlace {
  readonly caller: Caller;
  readonly repository: string;
  readonly collection: string;
}

/** One line per quad, source and part. */
export async function expectedSupports(stores: GraphStores, place: GraphPlace): Promise<string[]> {
  const { record, documents, settings } = await readPlace(stores, place);
  const lines: string[] = [];
  for (const document of documents) {
    const { live } = document;
    if (live === null) continue;
    const key = `knowledge/${record.incarnation}/${document.document_id}/${live.version}/text`;
    const parsed = JSON.parse(
      Buffer.from((await stores.objects.get(place.caller.scope, key)) as Uint8Array).toString("utf8"),
    ) as ParsedText;
    const ids = Array.from({ length: live.chunk_count }, (_, i) => `${document.document_id}.${live.run}.${i}`);
    const rows = await stores.vectors.get(place.caller.scope, `${record.incarnation}.${live.generation}`, ids);
    const chunks = rows.map((row, index): Chunk => {
      const { start, end } = (row as VectorRow).metadata as unknown as { start: number; end: number };
      return { index, text: row?.text ?? "", start, end };
    });
    const { parts } = await extractDocument({
      collection: record,
      document,
      parsed,
      chunks,
      settings,
      signal: new AbortController().signal,
    });
    for (const [part, quads] of parts)
      for (const quad of quads)
        lines.push(`${lineOf(quad)} ← ${document.document_id}.${live.run}.${live.generation} #${part}`);
  }
  return lines.toSorted();
}

export async function actualSupports(stores: GraphStores, place: GraphPlace): Promise<string[]> {
  const { record } = await readPlace(stores, place);
  const quads = await allQuads(stores.triples, place.caller, record.incarnation);
  const lines: string[] = [];
  for (let at = 0; at < quads.length; at += 500) {
    const part = quads.slice(at, at + 500);
    const supports = await stores.triples.supports(place.caller.scope, record.incarnation, part);
    for (const [i, quad] of part.entries()) {
      const own = supports[i] ?? [];
      if (own.length === 0) lines.push(`${lineOf(quad)} ← asserted`);
      for (const { source, part: number } of own) lines.push(`${lineOf(quad)} ← ${source} #${number}`);
    }
  }
  return lines.toSorted();
}

/** Without labels. */
export async function triplesOf(stores: GraphStores, place: GraphPlace): Promise<string[]> {
  const { record } = await readPlace(stores, place);
  const quads = await allQuads(stores.triples, place.caller, record.incarnation);
  const base = `urn:pinakes:${encodeURIComponent(record.repository_id)}:${encodeURIComponent(record.collection_id)}:`;
  return quads
    .filter(({ g }) => g !== "<urn:pinakes:labels>")
    .map((quad) => lineOf(quad).replaceAll(base, ""))
    .toSorted();
}

export async function allQuads(triples: TripleStore, caller: Caller, space: string): Promise<Quad[]> {
  const quads: Quad[] = [];
  for await (const page of pagesOf((cursor) => triples.match(caller.scope, space, {}, { cursor }))) {
    quads.push(...page.quads);
  }
  return quads;
}

async function readPlace(
  { items }: GraphStores,
  { caller, repository, collection }: GraphPlace,
): Promise<{ record: CollectionRecord; documents: DocumentRecord[]; settings: GraphSettings }> {
  const read = async (id: string) =>
    (await items.read(caller.scope, "collections", { partition: [repository], id }))?.document;
  const parent = (await read("repository")) as unknown as RepositoryRecord;
  const record = (await read(`collection:${collection}`)) as unknown as CollectionRecord;
  const documents = await Array.fromAsync(
    everyItem(items, caller.scope, "documents", {
      equals: { repository_id: record.repository_id, incarnation: record.incarnation },
      range: { prefix: "document:" },
      limit: 100,
    }),
    ({ document }) => document as unknown as DocumentRecord,
  );
  return { record, documents, settings: effectiveGraph(parent, record) };
}

function lineOf({ s, p, o, g }: Quad): string {
  return [s, p, o, g].join(" ").trim();
}
