/** A collection with something in every store, written below the ingestion: two documents with versions, chunks, rows, quads. */
import { hash } from "node:crypto";
import { CollectionPartition } from "../../../src/knowledge/records/collection-partition.ts";
import { itemIds, type DocumentRecord } from "../../../src/knowledge/records/records.ts";
import type { CollectionView, NewCollection } from "../../../src/knowledge/index.ts";
import { incarnationRows, type IncarnationRow } from "../../../src/transfer/move/incarnation-rows.ts";
import { CatalogRecords } from "../../../src/knowledge/records/catalog-records.ts";
import type { Process, World } from "./world.ts";

export const settings = {
  description: "All of them",
  chunking_strategy: { type: "FIXED", chunk_size: 400, chunk_overlap: 20 },
  allow_chunking_override: false,
  graph: { extract: "off" },
  metadata: { tags: ["physics", "old"], custom_fields: { partition: 3 } },
} satisfies Partial<NewCollection>;

const base = (collection: string, repository = "kb") => `<urn:pinakes:${repository}:${collection}:`;
export const entity = (collection: string, name: string, repository?: string): string =>
  `${base(collection, repository)}e/${name}>`;

export async function plant(
  world: World,
  { knowledge }: Process,
  collection: string,
  more: Partial<NewCollection> = {},
): Promise<CollectionView> {
  const { scope } = world.admin;
  const made = await knowledge.collections.create(world.admin, "kb", {
    collection_id: collection,
    name: `The ${collection}`,
    ...settings,
    ...more,
  });
  const place = { repository_id: "kb", collection_id: collection, incarnation: made.incarnation };
  const partition = new CollectionPartition(world.items, scope, place);
  await partition.ensure();
  const { vectors } = world.vectors;
  await vectors.create(scope, partition.vectors(1), { dims: 4 });
  for (const [number, id] of [`${collection}-one`, `${collection}-two`].entries()) {
    const record = documentOf(partition, id, number);
    for (const { version } of record.versions)
      await world.objects.put(scope, `${partition.prefix}${id}/${version}/content`, contentOf(id, version));
    await world.objects.put(
      scope,
      `${partition.prefix}${id}/2/text`,
      Buffer.from(JSON.stringify({ format: 1, text: `words of ${id}` })),
    );
    await partition.write([
      { op: "create", document: partition.document(itemIds.document(id), record) },
      {
        op: "create",
        document: partition.document(itemIds.source(record.source_key), { kind: "source", document_id: id }),
      },
      partition.move({ to: "indexed", bytes: record.size_bytes, chunks: 2 }),
    ]);
    const upsert = [0, 1].map((chunk) => ({
      id: `${id}.1.${chunk}`,
      vector: Float32Array.of(number, chunk, 1, 0.5),
      text: `passage ${chunk} of ${id}`,
      metadata: { document_id: id, catalog_id: collection, user_id: "root", run: 1, chunk, topic: "x" },
    }));
    await vectors.append(scope, partition.vectors(1), { upsert });
  }
  await knowledge.rows.upsert(world.admin, "kb", collection, {
    items: [
      { id: "r1", vector: [1, 2, 3], text: "a row", metadata: { catalog_id: "mine" } },
      { id: "r2", vector: [3, 2, 1] },
    ],
  });
  await world.triples.open(scope, made.incarnation);
  const at = (o: string, g = "") => ({ s: entity(collection, "newton"), p: "<http://x/p>", o, g });
  await world.triples.write(scope, made.incarnation, {
    insert: [at('"asserted"'), at(entity(collection, "apple"), "<http://x/g>")],
  });
  await world.triples.write(scope, made.incarnation, {
    insert: [at('"found"')],
    source: { source: `${collection}-one.1.1`, part: 0 },
  });
  await world.triples.write(scope, made.incarnation, {
    insert: [at('"found"')],
    source: { source: `${collection}-two.1.1`, part: 1 },
  });
  return made;
}

/** All contents of an incarnation. */
export async function contentsOf(world: World, repository: string, collection: string): Promise<IncarnationRow[]> {
  const found = await new CatalogRecords(world.items).collection(world.admin.scope, repository, collection);
  if (found === undefined) return [];
  const stores = { items: world.items, objects: world.objects, vectors: world.vectors.vectors, triples: world.triples };
  const rows: IncarnationRow[] = [];
  for await (const row of incarnationRows(stores, {
    scope: world.admin.scope,
    record: found.record,
    signal: new AbortController().signal,
  }))
    rows.push(row);
  return rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function contentOf(id: string, version: number): Buffer {
  return Buffer.from(`version ${version} of ${id}`);
}

function documentOf(partition: CollectionPartition, document_id: string, number: number): DocumentRecord {
  const uploaded_at = new Date(Date.UTC(2029, 0, 1 + number)).toISOString();
  const versions = [2, 1].map((version) => ({
    version,
    size_bytes: contentOf(document_id, version).length,
    sha256: hash("sha256", contentOf(document_id, version), "hex"),
    uploaded_at,
    uploaded_by: "root",
  }));
  const [newest] = versions as [(typeof versions)[number], (typeof versions)[number]];
  return {
    kind: "document",
    document_id,
    ...partition.key,
    source_key: `key-${document_id}`,
    name: `${document_id}.txt`,
    file_type: "txt",
    metadata: { topic: "x" },
    source: { type: "manual", uri: `upload:${document_id}.txt` },
    status: "indexed",
    error: null,
    attempts: 0,
    progress: null,
    size_bytes: newest.size_bytes,
    sha256: newest.sha256,
    version: 2,
    chunking_override: null,
    live: {
      ...newest,
      run: 1,
      chunking_strategy: { type: "FIXED", unit: "char", chunk_size: 400, chunk_overlap: 20 },
      chunk_count: 2,
      indexed_at: uploaded_at,
      generation: 1,
    },
    graph: { sources: ["1.1"], triples: 1 },
    versions,
    uploaded_at,
    uploaded_by: "root",
    indexed_at: uploaded_at,
    job_id: null,
    run: 1,
    touched_at: 0,
  };
}
