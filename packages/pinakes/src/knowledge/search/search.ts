/**
 * Searches: one ranking over the passages of any number of collections that the caller may read.
 *
 * The vectors find candidates; the documents' records decide which of them exist. A passage is shown only if its run is the live one
 * of its document, so a search sees the old or the new passages of a document that is replaced, never both or none.
 */
import { setImmediate as tick } from "node:timers/promises";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { QueryHit, TermCounts } from "../../vectors/index.ts";
import { Shelf } from "../documents/shelf.ts";
import { noteUse } from "../documents/uses.ts";
import { readTriple, type TripleInput } from "../graph/triple-view.ts";
import { knowledgeLimits } from "../limits.ts";
import type { Collections, OpenCollection } from "../model/collections.ts";
import type { Library } from "../model/library.ts";
import { listCollections } from "../model/list-collections.ts";
import { openToQuery } from "../model/open-or-create.ts";
import type { Repositories } from "../model/repositories.ts";
import type { KnowledgeParts } from "../parts.ts";
import { countElsewhere } from "./count-elsewhere.ts";
import { joinGraph, type Joined } from "./graph-hits.ts";
import { liveHits } from "./live-hits.ts";
import { rankHits, type Found } from "./rank-hits.ts";
import { provenanceOf, type ProvenanceView } from "./provenance.ts";
import { searchGraph } from "./search-graph.ts";
import { checkSearch, type CheckedSearch, type SearchInput } from "./search-input.ts";
import type { SearchResult } from "./search-result.ts";
import { isUnknownField, knownSomewhere } from "./unknown-fields.ts";

const candidatesMin = 100;
const roundsMax = 5;

/** A collection with the vectors that answer for it; without a generation nothing was ever put into it. */
interface Target {
  readonly opened: OpenCollection;
  readonly shelf: Shelf;
  readonly generation: number | undefined;
  readonly model: string;
}

/** The question as one collection is asked it. */
interface Question {
  /** Of the collection's model. */
  readonly vector: Float32Array | undefined;
  /** By the name of its vectors: what the other collections count of the question's words. */
  readonly elsewhere: ReadonlyMap<string, TermCounts>;
}

/** A re-index made another generation the collection's while it was searched. */
class Switched extends Error {}

export class Search {
  readonly #parts: KnowledgeParts;
  readonly #collections: Collections;
  readonly #library: Library;
  readonly #repositories: Repositories;

  constructor(parts: KnowledgeParts, collections: Collections, library: Library, repositories: Repositories) {
    this.#repositories = repositories;
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

  /** Where a triple of a collection comes from. */
  async provenance(caller: Caller, repositoryId: string, collectionId: string, triple: TripleInput): Promise<ProvenanceView> {
    const { collection } = await this.#collections.open(caller, repositoryId, collectionId);
    const shelf = new Shelf(this.#parts.items, caller.scope, collection);
    const generation = (await shelf.fence())?.record.generation ?? 1;
    return provenanceOf(this.#parts, caller, { shelf, generation }, readTriple(triple, 0));
  }

  async #search(caller: Caller, query: CheckedSearch): Promise<SearchResult> {
    // Embedded stores answer without ever leaving this turn of the event loop: one search after the other would keep all else from its turn.
    await tick();
    const began = performance.now();
    const targets = await this.#targets(caller, query);
    // Side by side: where the question is embedded, counting its words takes no time of its own.
    const [{ vectors, embedMs }, elsewhere] = await Promise.all([this.#embedded(query, targets), this.#elsewhere(caller, query, targets)]);
    const joined = await knownSomewhere(targets.map((target) => this.#joined(caller, target, query, { vector: vectors.get(target.model), elsewhere })));
    const hits = rankHits(
      joined.flatMap(({ found }) => found),
      query,
    );
    // A search over everything uses those in which it found something.
    const shown = new Set(hits.map(({ repository_id, collection_id }) => `${repository_id}/${collection_id}`));
    const used = targets.filter(({ shelf: { place } }) => shown.has(`${place.repository_id}/${place.collection_id}`));
    await Promise.all(used.map(({ opened }) => noteUse(this.#parts, caller.scope, opened.collection)));
    const totalMs = performance.now() - began;
    return {
      hits,
      mode_used: query.mode,
      timings: { embed_ms: round(embedMs), search_ms: round(totalMs - embedMs), total_ms: round(totalMs) },
      ...graphView(joined, query),
      ...(query.explain ? { explain: { ...(await this.#explain(caller, targets, query)), ...explainGraph(joined, query) } } : {}),
    };
  }

  /** What vectors and keywords found in one collection, and what the graph adds. */
  async #joined(caller: Caller, target: Target, query: CheckedSearch, question: Question): Promise<readonly Joined[]> {
    const { opened, shelf, generation } = target;
    const [candidates, graph] = await Promise.all([
      query.mode === "graph" ? [] : this.#candidates(caller, target, query, question),
      query.graph === undefined || generation === undefined
        ? undefined
        : searchGraph(this.#parts, caller, { shelf, generation }, { query: query.query, hops: query.graph.hops }),
    ]);
    if (graph === undefined || generation === undefined) return [{ found: candidates, entities: [], edges: [], added: 0, asked: false }];
    const { filter, graph: { limit } = { limit: 0 } } = query;
    return [await joinGraph(this.#parts, caller, candidates, graph, { opened, shelf, generation, filter, limit })];
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
      const pieces = { parts: this.#parts, collections: this.#collections, repositories: this.#repositories };
      const opened = await Promise.all(query.collections.map(({ repository, collection }) => openToQuery(pieces, caller, repository, collection)));
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

  async #embedded(
    query: CheckedSearch,
    targets: readonly Target[],
  ): Promise<{ readonly vectors: ReadonlyMap<string, Float32Array>; readonly embedMs: number }> {
    const began = performance.now();
    const vectors = query.mode === "keyword" || query.mode === "graph" ? new Map<string, Float32Array>() : await this.#embed(query.query, targets);
    return { vectors, embedMs: performance.now() - began };
  }

  /** What the other collections count of the question's words; nothing where no words are searched, or there is no other. */
  async #elsewhere(caller: Caller, query: CheckedSearch, targets: readonly Target[]): Promise<ReadonlyMap<string, TermCounts>> {
    if (query.mode === "vector" || query.mode === "graph") return new Map();
    const { query: text, asOf } = query;
    // Whoever names a collection twice has its rows counted once.
    const names = new Set(targets.flatMap(({ shelf, generation }) => (generation === undefined ? [] : [shelf.vectors(generation)])));
    return countElsewhere([...names], (name) => this.#parts.vectors.countTerms(caller.scope, name, text, { asOf }));
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
  async #candidates(caller: Caller, target: Target, query: CheckedSearch, question: Question): Promise<readonly Found[]> {
    const { opened, shelf, generation } = target;
    if (generation === undefined) return [];
    let limit = Math.min(knowledgeLimits.searchHitsMax, Math.max(candidatesMin, query.limit * 2));
    for (let round_ = 1; ; round_ += 1) {
      const hits = await this.#query(caller, shelf.vectors(generation), { ...query, limit }, question);
      const { live, overtaken } = await liveHits(shelf, hits, generation, query.asOf !== undefined);
      const enough = live.length === hits.length || live.length >= query.limit || (hits.length < limit && !overtaken);
      // Passages that are not shown, or none at all, may be those of a generation that was the collection's a moment ago.
      if (live.length < hits.length || hits.length === 0) await sameGeneration(target);
      if (enough || round_ >= roundsMax) return live.map(({ hit, document }) => ({ opened, hit, document }));
      limit = Math.min(knowledgeLimits.searchHitsMax, limit * 2);
    }
  }

  async #query(caller: Caller, collection: string, query: CheckedSearch, question: Question): Promise<readonly QueryHit[]> {
    const { limit, filter, asOf } = query;
    const { vector } = question;
    const elsewhere = question.elsewhere.get(collection);
    const mode = query.mode === "graph" ? "keyword" : query.mode;
    try {
      const { hits } = await this.#parts.vectors.query(caller.scope, collection, {
        mode,
        limit,
        ...(vector === undefined ? {} : { vector }),
        ...(mode === "vector" ? {} : { text: query.query }),
        ...(elsewhere === undefined ? {} : { elsewhere }),
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
      // The search itself said already if no collection knows the field: here it leaves nothing of this one.
      if (isUnknownField(error) || (PinakesError.isInstance(error) && error.code === "NOT_FOUND")) return 0;
      throw error;
    }
  }
}

function graphView(joined: readonly Joined[], query: CheckedSearch): Pick<SearchResult, "graph"> {
  const asked = joined.filter((one) => one.asked);
  if (asked.length === 0 && query.mode !== "graph") return {};
  const best = <Entry extends { readonly score: number }>(entries: readonly Entry[]) => entries.toSorted((a, b) => b.score - a.score);
  return {
    graph: { entities: best(asked.flatMap(({ entities }) => entities)), edges: best(asked.flatMap(({ edges }) => edges)).slice(0, query.graph?.limit ?? 0) },
  };
}

/** What the graph had to say. */
function explainGraph(joined: readonly Joined[], { graph }: CheckedSearch): JsonObject {
  if (graph === undefined) return {};
  const count = (of: (one: Joined) => number) => joined.reduce((sum, one) => sum + of(one), 0);
  return { graph: { ...graph, entities: count(({ entities }) => entities.length), passages_added: count(({ added }) => added) } };
}

async function sameGeneration({ shelf, generation }: Target): Promise<void> {
  if ((await shelf.fence())?.record.generation !== generation) throw new Switched("the collection was re-indexed meanwhile");
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
