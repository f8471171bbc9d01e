/**
 * Search: one ranking over the chunks of any number of collections that the caller may read.
 *
 * Vectors and keywords find candidates; the documents' records decide which are live. A chunk is returned only if its run is the live one
 * of its document, so a search during a replacement sees either the old or the new chunks, never both or none.
 *
 * A collection that cannot be searched (its model is not configured, its vectors are damaged) does not fail a search of others: the answer
 * names it and the reason. If no collection can be searched, the first error is thrown.
 */
import { setImmediate as tick } from "node:timers/promises";
import type { Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { EmbeddingModel } from "../../ports/embedder.ts";
import { vectorLimits, type QueryHit, type TermCounts } from "../../vectors/index.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { seesDocument } from "../access/document-access.ts";
import type { HiddenDocuments } from "../access/hidden-documents.ts";
import { noteUse } from "../collections/uses.ts";
import { readTriple, type TripleInput } from "../graph/triple-view.ts";
import { knowledgeLimits } from "../limits.ts";
import type { Collections } from "../collections/collections.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import type { Repositories } from "../collections/repositories.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { questionWeight } from "./calibration.ts";
import { countEverywhere, type Counted } from "./count-elsewhere.ts";
import { embedQuestion, type Embedded } from "./embed-question.ts";
import { gathered, gatheringOf, pruned } from "./gather-candidates.ts";
import { joinGraph, type Joined } from "./graph-hits.ts";
import { liveHits } from "./live-hits.ts";
import { outcomeOf } from "./outcome.ts";
import { rankHits, type Found } from "./rank-hits.ts";
import { findOwnRows } from "./own-rows.ts";
import { provenanceOf, type ProvenanceView } from "./provenance.ts";
import { searchGraph } from "./search-graph.ts";
import { checkSearch, type CheckedSearch, type SearchInput } from "./search-input.ts";
import type { SearchResult, SkippedCollection } from "./search-result.ts";
import { atOnce, findTargets, type ScopeDependencies, type Target } from "./search-scope.ts";
import { isUnknownField, unknownFieldOf } from "./unknown-fields.ts";
import { graphView, explainGraph, explainSearch } from "./explain-search.ts";

const candidatesMin = 100;
const roundsMax = 5;

/** The query for one collection. */
interface Question {
  /** Of the collection's model. */
  readonly vector: Float32Array | undefined;
  /** By the name of its vectors: word counts of the other collections. */
  readonly elsewhere: ReadonlyMap<string, TermCounts>;
}

/** The combined candidates of all collections. */
interface Gathered {
  readonly found: readonly Found[];
  readonly graphs: readonly Joined[];
  readonly skipped: readonly Failure[];
  /** Filter fields that no chunk of any collection has. */
  readonly unknownFields: readonly string[];
}

interface Failure {
  readonly target: Target;
  readonly error: PinakesError;
}

/** A re-index switched the generation during the search. */
class Switched extends Error {}

export class Search {
  readonly #deps: KnowledgeDependencies;
  readonly #collections: Collections;
  readonly #scope: ScopeDependencies;

  constructor(
    deps: KnowledgeDependencies,
    collections: Collections,
    catalog: CatalogRecords,
    repositories: Repositories,
  ) {
    this.#deps = deps;
    this.#collections = collections;
    this.#scope = { deps, collections, catalog, repositories };
  }

  async search(caller: Caller, input: SearchInput): Promise<SearchResult> {
    const query = checkSearch(input);
    for (let round_ = 1; ; round_ += 1) {
      try {
        return await this.#search(caller, query);
      } catch (error) {
        // The next round finds the new generation.
        if (!(error instanceof Switched) || round_ >= roundsMax) throw error;
      }
    }
  }

  /** The sources of a triple. */
  async provenance(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    triple: TripleInput,
  ): Promise<ProvenanceView> {
    const { collection, decision } = await this.#collections.open(caller, repositoryId, collectionId);
    const partition = new CollectionPartition(this.#deps.items, caller.scope, collection);
    const generation = (await partition.fence())?.record.generation ?? 1;
    return provenanceOf(this.#deps, caller, { partition, generation, decision }, readTriple(triple, 0));
  }

  async #search(caller: Caller, query: CheckedSearch): Promise<SearchResult> {
    // Embedded stores answer within this turn of the event loop: consecutive searches would starve everything else.
    await tick();
    const began = performance.now();
    const targets = await findTargets(this.#scope, caller, query);
    // Concurrently: counting words takes no extra time while the query is embedded.
    const [embedded, counted] = await Promise.all([
      embedQuestion(this.#deps.embedders, query, targets),
      this.#counted(caller, query, targets),
    ]);
    const { found, graphs, skipped, unknownFields } = await this.#gather(caller, query, targets, embedded, counted);
    const scale = {
      questionWeight: questionWeight(counted.all),
      rows: query.mode === "vector" ? Infinity : counted.all.rows,
      modelOf: (id: string) => embedded.models.get(id) ?? unknownModel(id),
    };
    const hits = rankHits(found, query, scale, caller);
    const searched = targets.filter((target) => !skipped.some((one) => one.target === target));
    // A search over everything counts as a use of the collections that have hits.
    const shown = new Set(hits.map(({ repository_id, collection_id }) => `${repository_id}/${collection_id}`));
    const used = searched.filter(({ partition: { key } }) => shown.has(`${key.repository_id}/${key.collection_id}`));
    await Promise.all(used.map(({ opened }) => noteUse(this.#deps, caller.scope, opened.collection)));
    const totalMs = performance.now() - began;
    return {
      hits,
      outcome: hits.length > 0 ? "ok" : await outcomeOf(this.#deps, caller, searched),
      ...(skipped.length === 0
        ? {}
        : { skipped: [...new Map(skipped.map((one) => [one.target, one])).values()].map(skippedView) }),
      ...(unknownFields.length === 0 ? {} : { unknown_fields: unknownFields }),
      mode_used: query.mode,
      timings: { embed_ms: round(embedded.ms), search_ms: round(totalMs - embedded.ms), total_ms: round(totalMs) },
      ...graphView(graphs, query),
      ...(query.explain
        ? { explain: { ...(await explainSearch(this.#deps, caller, searched, query)), ...explainGraph(graphs, query) } }
        : {}),
    };
  }

  /** A few collections at a time, keeping only candidates that can still be among the best. */
  async #gather(
    caller: Caller,
    query: CheckedSearch,
    targets: readonly Target[],
    embedded: Embedded,
    { elsewhere }: Counted,
  ): Promise<Gathered> {
    const gathering = gatheringOf(candidatesOf(query), vectorLimits.queryHitsMax);
    let found: readonly Found[] = [];
    const graphs: Joined[] = [];
    const skipped: Failure[] = [];
    const unknown: PinakesError[] = [];
    // Chunks, and rows that callers embedded: each may know fields that the other does not.
    const units = targets.flatMap((target) => [
      { target, rows: false },
      ...(target.rows === undefined ? [] : [{ target, rows: true }]),
    ]);
    for (let at = 0; at < units.length; at += atOnce) {
      const some = await Promise.all(
        units
          .slice(at, at + atOnce)
          .map(({ target, rows }) => this.#searchTarget(caller, target, rows, query, embedded, elsewhere)),
      );
      for (const one of some) {
        if (!("error" in one)) graphs.push({ ...one, found: [] });
        else if (isUnknownField(one.error)) unknown.push(one.error);
        else skipped.push(one);
      }
      found = pruned([...found, ...some.flatMap((one) => ("error" in one ? [] : one.found))], gathering);
    }
    const [first] = skipped;
    if (first !== undefined && skipped.length === units.length) throw first.error;
    // A field that one collection lacks may exist in another.
    const everywhere = unknown.length > 0 && unknown.length + skipped.length === units.length;
    const unknownFields = everywhere ? [...new Set(unknown.flatMap((error) => unknownFieldOf(error) ?? []))] : [];
    return { found: gathered(found, gathering), graphs, skipped, unknownFields };
  }

  /** The candidates of one collection, or its error. An invalid query is thrown. */
  async #searchTarget(
    caller: Caller,
    target: Target,
    rows: boolean,
    query: CheckedSearch,
    { vectors, failures }: Embedded,
    elsewhere: ReadonlyMap<string, TermCounts>,
  ): Promise<Joined | Failure> {
    const failed = failures.get(target.model);
    if (failed !== undefined) return { target, error: failed };
    try {
      const question = { vector: vectors.get(target.model), elsewhere };
      return await (rows
        ? this.#ownRows(caller, target, query, question)
        : this.#joined(caller, target, query, question));
    } catch (error) {
      if (!PinakesError.isInstance(error) || (error.code === "INVALID" && !isUnknownField(error))) throw error;
      return { target, error };
    }
  }

  /** The hits of vectors and keywords in one collection, joined with those of the graph. */
  async #joined(caller: Caller, target: Target, query: CheckedSearch, question: Question): Promise<Joined> {
    const { opened, partition, generation, model, hidden } = target;
    const [candidates, graph] = await Promise.all([
      query.mode === "graph" ? [] : this.#candidates(caller, target, query, question),
      query.graph === undefined || generation === undefined
        ? undefined
        : searchGraph(
            this.#deps,
            caller,
            { partition, generation, hidden, decision: opened.decision },
            { query: query.query, hops: query.graph.hops },
          ),
    ]);
    if (graph === undefined || generation === undefined)
      return { found: candidates, entities: [], edges: [], added: 0, graphSearched: false };
    const { filter, graph: { limit } = { limit: 0 } } = query;
    return joinGraph(this.#deps, caller, candidates, graph, {
      opened,
      partition,
      generation,
      model,
      filter,
      limit,
    });
  }

  async #ownRows(
    caller: Caller,
    { opened, rows, model }: Target,
    query: CheckedSearch,
    { vector, elsewhere }: Question,
  ): Promise<Joined> {
    const question = { vector, elsewhere: rows === undefined ? undefined : elsewhere.get(rows.name) };
    const found =
      rows === undefined
        ? []
        : await findOwnRows(
            this.#deps,
            caller.scope,
            { opened, model },
            rows,
            { ...query, limit: candidatesOf(query) },
            question,
          );
    return { found, entities: [], edges: [], added: 0, graphSearched: false };
  }

  /** Counts of the query's words over all collections; nothing if words are not searched. */
  async #counted(caller: Caller, query: CheckedSearch, targets: readonly Target[]): Promise<Counted> {
    if (query.mode === "vector" || query.mode === "graph")
      return countEverywhere([], () => Promise.reject(new Error("not asked")));
    const { query: text, asOf } = query;
    const counted = new Map(
      targets.flatMap(({ partition, generation, rows, hidden }) => [
        ...(generation === undefined ? [] : [[partition.vectors(generation), hidden] as const]),
        ...(rows === undefined ? [] : [[rows.name, undefined] as const]),
      ]),
    );
    return countEverywhere([...counted.keys()], (name) =>
      this.#deps.vectors.countTerms(caller.scope, name, text, { asOf, hidden: counted.get(name) }),
    );
  }

  /** The best of one collection. Repeats with a higher limit while results turn out to be of documents that changed or were deleted. */
  async #candidates(
    caller: Caller,
    target: Target,
    query: CheckedSearch,
    question: Question,
  ): Promise<readonly Found[]> {
    const { opened, partition, generation, model, hidden } = target;
    if (generation === undefined) return [];
    let limit = candidatesOf(query);
    for (let round_ = 1; ; round_ += 1) {
      const hits = await this.#query(caller, partition.vectors(generation), { ...query, limit }, question, hidden);
      const { live, overtaken } = await liveHits(partition, hits, {
        generation,
        past: query.asOf !== undefined,
        sees: (document) => seesDocument(caller, opened.decision, document),
      });
      const enough = live.length === hits.length || live.length >= query.limit || (hits.length < limit && !overtaken);
      // Hidden chunks, or none at all, may mean that the generation was just replaced.
      if (live.length < hits.length || hits.length === 0) await sameGeneration(target);
      if (enough || round_ >= roundsMax) return live.map(({ hit, document }) => ({ opened, hit, document, model }));
      limit = Math.min(knowledgeLimits.searchHitsMax, limit * 2);
    }
  }

  async #query(
    caller: Caller,
    collection: string,
    query: CheckedSearch,
    question: Question,
    hidden: HiddenDocuments | undefined,
  ): Promise<readonly QueryHit[]> {
    const { limit, filter, asOf } = query;
    const { vector } = question;
    const elsewhere = question.elsewhere.get(collection);
    const mode = query.mode === "graph" ? "keyword" : query.mode;
    try {
      const { hits } = await this.#deps.vectors.query(caller.scope, collection, {
        mode,
        limit,
        ...(vector === undefined ? {} : { vector }),
        ...(mode === "vector" ? {} : { text: query.query }),
        ...(elsewhere === undefined ? {} : { elsewhere }),
        ...(filter === undefined ? {} : { filter }),
        ...(asOf === undefined ? {} : { asOf }),
        ...(query.diversity > 0 ? { includeVectors: true } : {}),
        hidden,
      });
      return hits;
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
      // Nothing was ever ingested.
      if (asOf === undefined) return [];
      throw new PinakesError(
        "NOT_FOUND",
        `as_of: no data is kept for ${asOf.time}; it is too long ago, or before the first data.`,
        { cause: error },
      );
    }
  }
}

/** Number of candidates from each collection, and in the final ranking. */
function candidatesOf({ limit }: CheckedSearch): number {
  return Math.min(knowledgeLimits.searchHitsMax, Math.max(candidatesMin, limit * 2));
}

function skippedView({ target: { opened }, error }: Failure): SkippedCollection {
  const { repository_id, collection_id } = opened.collection;
  return { repository_id, collection_id, code: error.code, reason: error.detail };
}

/** For collections without vectors. */
function unknownModel(id: string): Pick<EmbeddingModel, "id" | "metric"> {
  return { id, metric: "cosine" };
}

async function sameGeneration({ partition, generation }: Target): Promise<void> {
  if ((await partition.fence())?.record.generation !== generation)
    throw new Switched("the collection was re-indexed concurrently");
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
