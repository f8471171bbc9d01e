/**
 * Searches: one ranking over the passages of any number of collections that the caller may read.
 *
 * The vectors find candidates; the documents' records decide which of them exist. A passage is shown only if its run is the live one
 * of its document, so a search sees the old or the new passages of a document that is replaced, never both or none.
 */
import { setImmediate as tick } from "node:timers/promises";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { compileFilter, type Filter } from "../../domain/filter.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { QueryHit, QueryMode } from "../../vectors/index.ts";
import { Shelf } from "../documents/shelf.ts";
import { passageFields } from "../documents/document-metadata.ts";
import { knowledgeLimits } from "../limits.ts";
import type { Collections, OpenCollection } from "../model/collections.ts";
import type { Library } from "../model/library.ts";
import { listCollections } from "../model/list-collections.ts";
import { shownIn, type DocumentRecord } from "../model/records.ts";
import type { KnowledgeParts } from "../parts.ts";
import { diversified } from "./diversify.ts";
import { fuse, vectorWeight, type Fusion } from "./fuse.ts";

export interface SearchInput {
  readonly query: string;
  /** Absent: every collection the caller may read. */
  readonly collections?: readonly { readonly repository: string; readonly collection: string }[] | undefined;
  readonly mode?: QueryMode | undefined;
  readonly limit?: number | undefined;
  readonly filter?: Filter | undefined;
  readonly min_score?: number | undefined;
  readonly explain?: boolean | undefined;
  readonly as_of?: string | undefined;
  /** `document`: the best passage of each document, with the others in `more`. */
  readonly group_by?: "document" | undefined;
  /** 0…1: how much to prefer passages that say something else than those before them. */
  readonly diversity?: number | undefined;
  readonly fusion?: Fusion | undefined;
  /** The share of the vectors in the mix, 0…1. */
  readonly vector_weight?: number | undefined;
  /** Archived collections, too. */
  readonly archived?: boolean | undefined;
}

export interface Citation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly filename: string;
  readonly version: number;
  readonly page?: number;
  readonly section?: string;
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export interface SearchHit {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly text: string;
  readonly score: number;
  readonly scores: { readonly vector?: number; readonly keyword?: number };
  readonly metadata: JsonObject;
  readonly citation: Citation;
  readonly more?: readonly { readonly chunk_id: string; readonly score: number }[];
  readonly explain?: JsonObject;
}

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  readonly mode_used: QueryMode;
  readonly timings: { readonly embed_ms: number; readonly search_ms: number; readonly total_ms: number };
  readonly explain?: JsonObject;
}

/** A candidate with all that is known of it. */
interface Found {
  readonly opened: OpenCollection;
  readonly document: DocumentRecord;
  readonly hit: QueryHit;
}

/** A collection with the vectors that answer for it; without a generation nothing was ever put into it. */
interface Target {
  readonly opened: OpenCollection;
  readonly shelf: Shelf;
  readonly generation: number | undefined;
  readonly model: string;
}

/** A re-index made another generation the collection's while it was searched. */
class Switched extends Error {}

async function sameGeneration({ shelf, generation }: Target): Promise<void> {
  if ((await shelf.fence())?.record.generation !== generation) throw new Switched("the collection was re-indexed meanwhile");
}

/**
 * A field that no passage of one collection has may be known in another: there it finds nothing, which is no mistake. In all of them it
 * is one, unless every passage may have it.
 */
async function knownSomewhere(searches: readonly Promise<readonly Found[]>[]): Promise<readonly Found[]> {
  const outcomes = await Promise.allSettled(searches);
  const unknown: PinakesError[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") continue;
    const error: unknown = outcome.reason;
    if (!isUnknownField(error)) throw error instanceof Error ? error : new Error(String(error));
    unknown.push(error);
  }
  const [first] = unknown;
  if (first !== undefined && unknown.length === outcomes.length && !namesOwnField(first)) throw first;
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));
}

function isUnknownField(error: unknown): error is PinakesError {
  return PinakesError.isInstance(error) && error.code === "INVALID" && /^filter\.\S+: no row has a field/.test(error.detail);
}

function namesOwnField(error: PinakesError): boolean {
  return passageFields.some((field) => error.detail.includes(`no row has a field "${field}"`));
}

const candidatesMin = 100;
const roundsMax = 5;

export class Search {
  readonly #parts: KnowledgeParts;
  readonly #collections: Collections;
  readonly #library: Library;

  constructor(parts: KnowledgeParts, collections: Collections, library: Library) {
    this.#parts = parts;
    this.#collections = collections;
    this.#library = library;
  }

  async search(caller: Caller, input: SearchInput): Promise<SearchResult> {
    const query = checkSearch(input);
    for (let round_ = 1; ; round_ += 1) {
      try {
        return await this.#search(caller, query);
      } catch (error) {
        // The next look finds the new generation.
        if (!(error instanceof Switched) || round_ >= roundsMax) throw error;
      }
    }
  }

  async #search(caller: Caller, query: CheckedSearch): Promise<SearchResult> {
    // Embedded stores answer without ever leaving this turn of the event loop: one search after the other would keep all else from its turn.
    await tick();
    const began = performance.now();
    const targets = await this.#targets(caller, query);
    const embedBegan = performance.now();
    const vectors = query.mode === "keyword" ? new Map<string, Float32Array>() : await this.#embed(query.query, targets);
    const embedMs = performance.now() - embedBegan;
    const found = await knownSomewhere(targets.map((target) => this.#candidates(caller, target, query, vectors.get(target.model))));
    const hits = ranked(found, query);
    const totalMs = performance.now() - began;
    return {
      hits,
      mode_used: query.mode,
      timings: { embed_ms: round(embedMs), search_ms: round(totalMs - embedMs), total_ms: round(totalMs) },
      ...(query.explain ? { explain: await this.#explain(caller, targets, query) } : {}),
    };
  }

  /** Which vectors of each collection answer, and of which model they are. */
  async #targets(caller: Caller, query: CheckedSearch): Promise<readonly Target[]> {
    const opened = await this.#opened(caller, query);
    return Promise.all(
      opened.map(async (one) => {
        const shelf = new Shelf(this.#parts.items, caller.scope, one.collection);
        const fence = (await shelf.fence())?.record;
        return { opened: one, shelf, generation: fence?.generation, model: fence?.embedding_model ?? one.collection.embedding_model };
      }),
    );
  }

  async #opened(caller: Caller, query: CheckedSearch): Promise<readonly OpenCollection[]> {
    const readable = (opened: OpenCollection): boolean => opened.collection.status === "ACTIVE" || query.archived;
    if (query.collections !== undefined) {
      const opened = await Promise.all(query.collections.map(({ repository, collection }) => this.#collections.open(caller, repository, collection)));
      const closed = opened.find((one) => !readable(one));
      if (closed !== undefined)
        throw new PinakesError("CONFLICT", `Collection "${closed.collection.collection_id}" is archived; search it with archived=true, or unarchive it.`);
      return opened;
    }
    const max = knowledgeLimits.searchCollectionsMax;
    const statuses = query.archived ? (["ACTIVE", "ARCHIVED"] as const) : (["ACTIVE"] as const);
    const pages = await Promise.all(statuses.map((status) => listCollections(this.#parts.items, this.#library, caller, { status, limit: max })));
    const items = pages.flatMap((page) => page.items);
    if (items.length > max || pages.some(({ cursor }) => cursor !== undefined))
      throw invalid(`collections: there are more than ${max} that you may read; name those to search.`);
    return items;
  }

  /** Once for each model among the collections. */
  async #embed(text: string, targets: readonly Target[]): Promise<Map<string, Float32Array>> {
    const models = [...new Set(targets.map(({ model }) => model))];
    const embedded = await Promise.all(
      models.map(async (model) => {
        const [vector] = await (await this.#parts.embedders.get(model)).embed([text], { kind: "query" });
        return [model, vector as Float32Array] as const;
      }),
    );
    return new Map(embedded);
  }

  /** The best of one collection. Asks for more, and anew, while some of them turn out to be of documents that changed or went. */
  async #candidates(caller: Caller, target: Target, query: CheckedSearch, vector: Float32Array | undefined): Promise<readonly Found[]> {
    const { opened, shelf, generation } = target;
    if (generation === undefined) return [];
    let limit = Math.min(knowledgeLimits.searchHitsMax, Math.max(candidatesMin, query.limit * 2));
    for (let round_ = 1; ; round_ += 1) {
      const hits = await this.#query(caller, shelf.vectors(generation), { ...query, limit }, vector);
      const { live, overtaken } = await liveHits(shelf, hits, generation, query.asOf !== undefined);
      const enough = live.length === hits.length || live.length >= query.limit || (hits.length < limit && !overtaken);
      // Passages that are not shown, or none at all, may be those of a generation that was the collection's a moment ago.
      if (live.length < hits.length || hits.length === 0) await sameGeneration(target);
      if (enough || round_ >= roundsMax) return live.map(({ hit, document }) => ({ opened, hit, document }));
      limit = Math.min(knowledgeLimits.searchHitsMax, limit * 2);
    }
  }

  async #query(caller: Caller, collection: string, query: CheckedSearch, vector: Float32Array | undefined): Promise<readonly QueryHit[]> {
    const { mode, limit, filter, asOf } = query;
    try {
      const { hits } = await this.#parts.vectors.query(caller.scope, collection, {
        mode,
        limit,
        ...(vector === undefined ? {} : { vector }),
        ...(mode === "vector" ? {} : { text: query.query }),
        ...(filter === undefined ? {} : { filter }),
        ...(asOf === undefined ? {} : { asOf }),
        ...(query.diversity > 0 ? { includeVectors: true } : {}),
      });
      return hits;
    } catch (error) {
      if (!PinakesError.isInstance(error) || error.code !== "NOT_FOUND") throw error;
      // Nothing was ever ingested.
      if (asOf === undefined) return [];
      throw new PinakesError("NOT_FOUND", `as_of: nothing is kept of ${asOf.time}; the time is too long ago, or there was nothing yet.`, { cause: error });
    }
  }

  /** What was searched, and what the filter left of it. */
  async #explain(caller: Caller, targets: readonly Target[], query: CheckedSearch): Promise<JsonObject> {
    const collections = await Promise.all(
      targets.map(async ({ opened: { collection, decision }, shelf, generation = 1, model }) => {
        const count = async (filter?: Filter) => this.#count(caller, shelf.vectors(generation), filter);
        const passages = await count();
        const matching = query.filter === undefined ? passages : await count(query.filter);
        const { repository_id, collection_id } = collection;
        return { repository_id, collection_id, embedding_model: model, access: decision.reason, passages, removed_by_filter: passages - matching };
      }),
    );
    return { mode: query.mode, fusion: query.fusion, vector_weight: query.weight, collections };
  }

  async #count(caller: Caller, name: string, filter?: Filter): Promise<number> {
    try {
      return await this.#parts.vectors.count(caller.scope, name, filter === undefined ? {} : { filter });
    } catch (error) {
      if (PinakesError.isInstance(error) && error.code === "NOT_FOUND") return 0;
      throw error;
    }
  }
}

interface CheckedSearch {
  readonly query: string;
  readonly collections: readonly { readonly repository: string; readonly collection: string }[] | undefined;
  readonly mode: QueryMode;
  readonly limit: number;
  readonly filter: Filter | undefined;
  readonly minScore: number | undefined;
  readonly explain: boolean;
  readonly asOf: { readonly time: string } | undefined;
  readonly grouped: boolean;
  readonly diversity: number;
  readonly fusion: Fusion;
  readonly weight: number;
  readonly archived: boolean;
}

function checkSearch(input: SearchInput): CheckedSearch {
  const { queryCharsMax, searchHitsDefault, searchHitsMax, searchCollectionsMax } = knowledgeLimits;
  const { query, collections, mode = "hybrid", limit = searchHitsDefault, diversity = 0, vector_weight = vectorWeight, fusion = "convex" } = input;
  if (typeof query !== "string" || query.trim() === "" || query.length > queryCharsMax)
    throw invalid(`query: must be a text of 1–${queryCharsMax} characters.`);
  if (mode !== "hybrid" && mode !== "vector" && mode !== "keyword") throw invalid(`mode: must be hybrid, vector or keyword, got ${show(mode)}.`);
  if (!Number.isInteger(limit) || limit < 1 || limit > searchHitsMax)
    throw invalid(`limit: must be a whole number from 1 to ${searchHitsMax}, got ${show(limit)}.`);
  if (collections !== undefined && (collections.length === 0 || collections.length > searchCollectionsMax))
    throw invalid(`collections: name 1–${searchCollectionsMax}, or leave it out to search all that you may read.`);
  if (!(diversity >= 0 && diversity <= 1)) throw invalid(`diversity: must be a number from 0 to 1, got ${show(diversity)}.`);
  if (!(vector_weight >= 0 && vector_weight <= 1)) throw invalid(`vector_weight: must be a number from 0 to 1, got ${show(vector_weight)}.`);
  if (fusion !== "convex" && fusion !== "rrf") throw invalid(`fusion: must be convex or rrf, got ${show(fusion)}.`);
  if (input.group_by !== undefined && input.group_by !== "document") throw invalid(`group_by: must be document, got ${show(input.group_by)}.`);
  if (input.min_score !== undefined && !Number.isFinite(input.min_score)) throw invalid("min_score: must be a number.");
  // Also where there is nothing to search yet: what is wrong is wrong from the first day.
  if (input.filter !== undefined) compileFilter(input.filter);
  if (input.as_of !== undefined && Number.isNaN(Date.parse(input.as_of)))
    throw invalid(`as_of: must be a time such as 2030-01-01T00:00:00Z, got ${show(input.as_of)}.`);
  return {
    query,
    collections,
    mode,
    limit,
    filter: input.filter,
    minScore: input.min_score,
    explain: input.explain ?? false,
    asOf: input.as_of === undefined ? undefined : { time: input.as_of },
    grouped: input.group_by === "document",
    diversity,
    fusion,
    weight: vector_weight,
    archived: input.archived ?? false,
  };
}

/** Those whose document shows them. In the past, of a document that is still here, what it showed last. */
async function liveHits(shelf: Shelf, hits: readonly QueryHit[], generation: number, past: boolean): Promise<LiveHits> {
  const ids = [...new Set(hits.map(({ metadata }) => metadata["document_id"] as string))];
  const documents = new Map((await shelf.readMany(ids)).flatMap((document) => (document === undefined ? [] : [[document.document_id, document] as const])));
  const lastRun = new Map<string, number>();
  for (const { metadata } of hits) {
    const id = metadata["document_id"] as string;
    lastRun.set(id, Math.max(lastRun.get(id) ?? 0, metadata["run"] as number));
  }
  const live = hits.flatMap((hit) => {
    const document = documents.get(hit.metadata["document_id"] as string);
    if (document === undefined) return [];
    const run = past ? lastRun.get(document.document_id) : shownIn(document, generation)?.run;
    return hit.metadata["run"] === run ? [{ hit, document }] : [];
  });
  const overtaken = !past && documents.values().some(({ document_id, live: shown }) => shown !== null && shown.run > (lastRun.get(document_id) ?? 0));
  return { live, overtaken };
}

interface LiveHits {
  readonly live: readonly { readonly hit: QueryHit; readonly document: DocumentRecord }[];
  /** A document was replaced after its passages were found: those that it shows now are found by asking again. */
  readonly overtaken: boolean;
}

function ranked(found: readonly Found[], query: CheckedSearch): readonly SearchHit[] {
  const { mode, fusion, weight, minScore, limit } = query;
  const fused =
    mode === "hybrid"
      ? fuse(
          found.map(({ hit }) => hit.scores),
          fusion,
          weight,
        )
      : found.map(({ hit }) => ({ score: hit.score, parts: {} }));
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

function toHit({ opened, document, hit }: Found, score: number): SearchHit {
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
    scores: hit.scores,
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

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
