/**
 * Where a triple comes from: the chunks that state it, with their position in a version of a document. Also as PROV-O: the triple is
 * derived from chunks, these from a version of a document, which is attributed to its uploader.
 */
import type { Provenance as ProvenanceView } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { VectorRow } from "../../vectors/index.ts";
import type { Decision } from "../access/access.ts";
import { seesDocument } from "../access/document-access.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import { tripleView } from "../graph/triple-view.ts";
import { stableHash } from "../extraction/index.ts";
import { chunkId } from "../documents/passages.ts";
import { readSource } from "../records/graph-source.ts";
import { shownIn, type DocumentRecord, type IndexedVersion } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Citation } from "./search-result.ts";

export type { ProvenanceView };

interface Stating {
  readonly row: VectorRow;
  readonly document: DocumentRecord;
  readonly shown: IndexedVersion;
}

/** NOT_FOUND if the triple does not exist, or only a run that is not live states it. */
export async function provenanceOf(
  deps: Pick<KnowledgeDependencies, "triples" | "vectors">,
  caller: Caller,
  {
    partition,
    generation,
    decision,
  }: { readonly partition: CollectionPartition; readonly generation: number; readonly decision: Decision },
  quad: Quad,
): Promise<ProvenanceView> {
  const { incarnation } = partition.key;
  const there = await deps.triples.count(caller.scope, incarnation, quad, { max: 1 });
  const [supports = []] = there === 0 ? [] : await deps.triples.supports(caller.scope, incarnation, [quad]);
  const [asserted = false] = there === 0 ? [] : await deps.triples.asserted(caller.scope, incarnation, [quad]);
  const sources = supports.flatMap(({ source, part }) => {
    const from = readSource(source);
    return from === undefined || from.generation !== generation ? [] : [{ ...from, part }];
  });
  const ids = [...new Set(sources.map(({ documentId }) => documentId))];
  const records = new Map(
    (await partition.readMany(ids)).map((document, i) => [
      ids[i] as string,
      document !== undefined && seesDocument(caller, decision, document) ? document : undefined,
    ]),
  );
  const live = sources.filter(({ documentId, run }) => shownOf(records.get(documentId), generation)?.run === run);
  if (there === 0 || (!asserted && live.length === 0))
    throw new PinakesError("NOT_FOUND", "The collection does not contain this triple.");
  const chunks = live.map(({ documentId, run, part }) => chunkId(documentId, run, part));
  const rows = chunks.length === 0 ? [] : await deps.vectors.get(caller.scope, partition.vectors(generation), chunks);
  const stating = rows.flatMap((row, i): Stating[] => {
    const document = records.get(live[i]?.documentId as string);
    const shown = shownOf(document, generation);
    return row === undefined || document === undefined || shown === null ? [] : [{ row, document, shown }];
  });
  return { triple: tripleView(quad), asserted, sources: stating.map(sourceView), prov: provOf(quad, stating) };
}

function shownOf(document: DocumentRecord | undefined, generation: number): IndexedVersion | null {
  return document === undefined ? null : shownIn(document, generation);
}

function sourceView({ row, document }: Stating): ProvenanceView["sources"][number] {
  const { version, page, start, end } = row.metadata as unknown as Citation;
  const { document_id, name } = document;
  return {
    document_id,
    chunk_id: row.id,
    filename: name,
    version,
    ...(page === undefined ? {} : { page }),
    start,
    end,
    quote: row.text ?? "",
  };
}

function provOf(quad: Quad, stating: readonly Stating[]): JsonObject {
  const triple = `urn:pinakes:triple:${stableHash(quad.s, quad.p, quad.o, quad.g)}`;
  const documents = new Map(stating.map(({ document, shown }) => [documentIri(document, shown), { document, shown }]));
  const users = new Set([...documents.values()].map(({ document }) => document.uploaded_by));
  return {
    "@context": {
      prov: "http://www.w3.org/ns/prov#",
      xsd: "http://www.w3.org/2001/XMLSchema#",
      pinakes: "urn:pinakes:provenance:",
      "prov:generatedAtTime": { "@type": "xsd:dateTime" },
    },
    "@graph": [
      {
        "@id": triple,
        "@type": "prov:Entity",
        "prov:wasDerivedFrom": stating.map(({ row }) => ({ "@id": passageIri(row.id) })),
      },
      ...stating.map(({ row, document, shown }) => {
        const { page, start, end } = row.metadata as unknown as Citation;
        const place = {
          "pinakes:start": start,
          "pinakes:end": end,
          ...(page === undefined ? {} : { "pinakes:page": page }),
        };
        return {
          "@id": passageIri(row.id),
          "@type": "prov:Entity",
          ...place,
          "prov:wasDerivedFrom": { "@id": documentIri(document, shown) },
        };
      }),
      ...[...documents].map(([id, { document, shown }]) => ({
        "@id": id,
        "@type": "prov:Entity",
        "pinakes:name": document.name,
        "pinakes:sha256": shown.sha256,
        "prov:generatedAtTime": shown.uploaded_at,
        "prov:wasAttributedTo": { "@id": userIri(document.uploaded_by) },
      })),
      ...[...users].map((user) => ({ "@id": userIri(user), "@type": "prov:Agent", "pinakes:user": user })),
    ],
  };
}

function passageIri(id: string): string {
  return `urn:pinakes:passage:${encodeURIComponent(id)}`;
}

function documentIri({ document_id }: DocumentRecord, { version }: IndexedVersion): string {
  return `urn:pinakes:document:${encodeURIComponent(document_id)}:${version}`;
}

function userIri(user: string): string {
  return `urn:pinakes:user:${encodeURIComponent(user)}`;
}
