/** One ranking of the candidates of all collections, and each of the best as callers see it. */
import type { QueryHit } from "../../vectors/index.ts";
import { passageFields } from "../documents/document-metadata.ts";
import type { OpenCollection } from "../model/collections.ts";
import type { DocumentRecord } from "../model/records.ts";
import { diversified } from "./diversify.ts";
import { fuse } from "./fuse.ts";
import type { CheckedSearch } from "./search-input.ts";
import type { Citation, SearchHit } from "./search-result.ts";

/** A candidate with all that is known of it. */
export interface Found {
  readonly opened: OpenCollection;
  readonly document: DocumentRecord;
  readonly hit: QueryHit;
  /** What the graph says for it, 0…1; absent where it says nothing. */
  readonly graph?: number;
}

export function rankHits(found: readonly Found[], query: CheckedSearch): readonly SearchHit[] {
  const { mode, fusion, weight, minScore, limit } = query;
  const fused =
    mode === "hybrid"
      ? fuse(
          found.map(({ hit, graph }) => (graph === undefined ? hit.scores : { ...hit.scores, graph })),
          fusion,
          weight,
          query.graph?.weight,
        )
      : found.map(({ hit, graph }) => ({ score: mode === "graph" ? (graph ?? 0) : hit.score, parts: {} }));
  let entries = found
    .map((candidate, i) => ({ ...candidate, score: fused[i]?.score as number, parts: fused[i]?.parts ?? {} }))
    .filter(({ score }) => minScore === undefined || score >= minScore)
    .toSorted((a, b) => b.score - a.score || (a.hit.id < b.hit.id ? -1 : 1));
  const more = new Map<string, { chunk_id: string; score: number }[]>();
  if (query.grouped) {
    entries = entries.filter(({ document, hit, score }) => {
      const others = more.get(document.document_id);
      if (others === undefined) return more.set(document.document_id, []) !== undefined;
      others.push({ chunk_id: hit.id, score });
      return false;
    });
  }
  const chosen = query.diversity > 0 ? diversified(entries, limit, query.diversity) : entries.slice(0, limit);
  return chosen.map((entry) => ({
    ...toHit(entry, entry.score),
    ...(query.grouped ? { more: more.get(entry.document.document_id) ?? [] } : {}),
    ...(query.explain ? { explain: { parts: entry.parts, access: entry.opened.decision.reason } } : {}),
  }));
}

const ownFields: ReadonlySet<string> = new Set(passageFields);

function toHit({ opened, document, hit, graph }: Found, score: number): SearchHit {
  const { repository_id, collection_id } = opened.collection;
  const { start, end, page, section, version, filename } = hit.metadata as unknown as Citation;
  const text = hit.text ?? "";
  return {
    repository_id,
    collection_id,
    document_id: document.document_id,
    chunk_id: hit.id,
    text,
    score,
    scores: graph === undefined ? hit.scores : { ...hit.scores, graph },
    metadata: Object.fromEntries(Object.entries(hit.metadata).filter(([name]) => !ownFields.has(name))),
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
