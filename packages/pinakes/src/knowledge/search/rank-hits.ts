/** Ranks the candidates of all collections, and builds the hits that callers see. */
import type { Caller } from "../../domain/caller.ts";
import type { QueryHit } from "../../vectors/index.ts";
import { passageFields } from "../documents/document-metadata.ts";
import { decideDocument } from "../access/document-access.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import type { DocumentRecord } from "../records/records.ts";
import { absoluteScores, strongEnough, type Scale } from "./absolute-scores.ts";
import { diversified } from "./diversify.ts";
import { fuse } from "./fuse.ts";
import type { CheckedSearch } from "./search-input.ts";
import type { Citation, SearchHit } from "./search-result.ts";

/** A candidate with its context. */
export interface Found {
  readonly opened: OpenCollection;
  /** Undefined for a row that a caller embedded. */
  readonly document: DocumentRecord | undefined;
  readonly hit: QueryHit;
  /** Of the collection's vectors. */
  readonly model: string;
  /** Its vector could not be compared with the query's: its dimensions differ from the model's. */
  readonly wordsOnly?: boolean;
  /** Score from the graph, 0…1; absent without one. */
  readonly graph?: number;
}

export function rankHits(
  found: readonly Found[],
  query: CheckedSearch,
  scale: Scale,
  who: Caller,
): readonly SearchHit[] {
  const { mode, fusion, weight, limit } = query;
  const fused =
    mode === "hybrid"
      ? fuse(
          found.map(({ hit, graph }) => (graph === undefined ? hit.scores : { ...hit.scores, graph })),
          fusion,
          weight,
          query.graph?.weight,
        )
      : found.map(({ hit, graph }) => ({ score: mode === "graph" ? (graph ?? 0) : hit.score, parts: {} }));
  const ordered = found
    .map((candidate, i) => ({ ...candidate, fused: fused[i]?.score as number, parts: fused[i]?.parts ?? {} }))
    .toSorted((a, b) => b.fused - a.fused || (a.hit.id < b.hit.id ? -1 : 1));
  let entries = strongEnough(absoluteScores(ordered, query, scale), query, scale);
  const more = new Map<string, { chunk_id: string; score: number }[]>();
  if (query.grouped) {
    entries = entries.filter((entry) => {
      const { hit, score } = entry;
      const group = groupOf(entry);
      const others = more.get(group);
      if (others === undefined) return more.set(group, []) !== undefined;
      others.push({ chunk_id: hit.id, score });
      return false;
    });
  }
  const chosen = query.diversity > 0 ? diversified(entries, limit, query.diversity) : entries.slice(0, limit);
  return chosen.map((entry) => ({
    ...toHit(entry, entry.score, mode === "hybrid" ? entry.fused : undefined),
    ...(query.grouped ? { more: more.get(groupOf(entry)) ?? [] } : {}),
    ...(query.explain
      ? { explain: { parts: entry.parts, evidence: { ...entry.evidence }, access: reasonOf(who, entry) } }
      : {}),
  }));
}

function reasonOf(who: Caller, { opened, document }: Found): string {
  return (document === undefined ? opened.decision : decideDocument(who, opened.decision, document)).reason;
}

/** Rows form groups of one. */
function groupOf({ opened, document, hit }: Found): string {
  return document?.document_id ?? `row ${opened.collection.incarnation} ${hit.id}`;
}

const ownFields: ReadonlySet<string> = new Set(passageFields);

function toHit({ opened, document, hit, graph }: Found, score: number, fused: number | undefined): SearchHit {
  const { repository_id, collection_id } = opened.collection;
  if (document === undefined)
    return { ...toRowHit(opened, hit, score), scores: { ...hit.scores, ...(fused === undefined ? {} : { fused }) } };
  const { start, end, page, section, version, filename } = hit.metadata as unknown as Citation;
  const text = hit.text ?? "";
  return {
    repository_id,
    collection_id,
    document_id: document.document_id,
    chunk_id: hit.id,
    text,
    score,
    scores: { ...hit.scores, ...(graph === undefined ? {} : { graph }), ...(fused === undefined ? {} : { fused }) },
    metadata: Object.fromEntries(Object.entries(hit.metadata).filter(([name]) => !ownFields.has(name))),
    source: document.source.uri,
    citation: {
      repository_id,
      collection_id,
      document_id: document.document_id,
      filename,
      version,
      ...(page === undefined ? {} : { page }),
      ...(section === undefined ? {} : { section }),
      start,
      end,
      quote: text,
    },
  };
}

function toRowHit(
  { collection: { repository_id, collection_id } }: OpenCollection,
  { id, text = "", scores, metadata }: QueryHit,
  score: number,
): SearchHit {
  const nowhere = { document_id: "", filename: "", version: 0, start: 0, end: text.length };
  const citation = { repository_id, collection_id, row_id: id, ...nowhere, quote: text };
  return { repository_id, collection_id, document_id: "", chunk_id: id, text, score, scores, metadata, citation };
}
