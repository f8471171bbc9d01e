/**
 * The graph of a collection: loads triples and queries them by pattern or SPARQL. The caller is the first argument of every call; the
 * access decision comes before any read of the graph (READ to query, WRITE to change), and a query sees only the collections that it names.
 * The graph of labels by which searches find entities is visible only by its name.
 */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { invalid } from "../../domain/errors.ts";
import type { Slots } from "../../domain/query-slots.ts";
import { defaultGraph, type Quad, type TermText } from "../../domain/rdf.ts";
import type { QuadPattern } from "../../ports/triple-store.ts";
import { rdfFormats, writeRdf, type RdfWriteFormat } from "../../rdf/index.ts";
import {
  createSparql,
  hideGraphs,
  tripleStoreSource,
  type QuadReads,
  type QuadSource,
  type SparqlOptions,
} from "../../sparql/index.ts";
import { labelsGraph } from "../extraction/index.ts";
import { knowledgeLimits, openSlots } from "../limits.ts";
import type { Collections } from "../collections/collections.ts";
import { hiddenDocuments } from "../access/hidden-documents.ts";
import { archived, type OpenCollection } from "../access/open-collection.ts";
import { openOrCreate, openToQuery, type OpenOrCreateDependencies } from "../collections/open-or-create.ts";
import type { Repositories } from "../collections/repositories.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { knownAmong, type CollectionName, type QueryMore, type QueryWishes } from "../collections/query-options.ts";
import { shownCollection } from "../collections/shown-collection.ts";
import type { CollectionView } from "../views.ts";
import { noteUse } from "../collections/uses.ts";
import {
  readSparqlSettings,
  readSparqlText,
  type SparqlAcross,
  type SparqlAnswer,
  type SparqlFound,
  type SparqlInput,
  type SparqlSettings,
} from "./ask-sparql.ts";
import { SealedCursors } from "../records/sealed-cursors.ts";
import { graphLimits } from "./graph-limits.ts";
import { checkLoad, loadTriples, type LoadInput, type LoadResult } from "./load-triples.ts";
import { readGraphBodies, readGraphName, replaceGraph, type GraphInput, type GraphWritten } from "./graph-store.ts";
import { isLastPage, matchQuads, quadPages, type QuadDependencies } from "./read-quads.ts";
import { SpaceWriter } from "./space-writer.ts";
import { visibleTriples } from "./visible-triples.ts";
import {
  isEmptyPattern,
  readPattern,
  readTriple,
  tripleView,
  type PatternInput,
  type TripleInput,
} from "./triple-view.ts";
import {
  type TripleQuery,
  type TriplePage,
  type AcrossQuery,
  type TaggedTriple,
  type TripleRemoval,
  pageLimit,
  patternKey,
  parted,
  removeGiven,
} from "./triple-query.ts";

export class GraphApi {
  readonly #deps: KnowledgeDependencies;
  readonly #collections: Collections;
  readonly #services: OpenOrCreateDependencies;
  readonly #cursors: SealedCursors;
  readonly #places: Slots;
  readonly #sparql = createSparql({ limits: { updateQuadsMax: graphLimits.updateQuadsMax } });

  constructor(
    deps: KnowledgeDependencies,
    { collections, repositories }: { readonly collections: Collections; readonly repositories: Repositories },
  ) {
    this.#deps = deps;
    this.#collections = collections;
    this.#services = { deps, collections, repositories };
    this.#cursors = new SealedCursors(deps);
    this.#places = deps.places ?? openSlots(deps.quotas);
  }

  /** The first triples for a missing collection create it, if the repository says so, like the first document does. */
  async loadTriples(caller: Caller, repositoryId: string, collectionId: string, input: LoadInput): Promise<LoadResult> {
    requireCaller(caller);
    const load = checkLoad(input);
    const opened = await openOrCreate(this.#services, caller, repositoryId, collectionId, undefined, "Adding triples");
    const { atomicQuadsMax } = this.#deps.triples.capabilities;
    return loadTriples(load, await this.#writer(caller, opened), { atomicQuadsMax, newId: this.#deps.newId });
  }

  /** Given one by one: all are checked before the first is stored. */
  async addTriples(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    triples: readonly TripleInput[],
  ): Promise<{ readonly inserted: number }> {
    requireCaller(caller);
    const quads = triples.map(readTriple);
    const opened = await openOrCreate(this.#services, caller, repositoryId, collectionId, undefined, "Adding triples");
    const writer = await this.#writer(caller, opened);
    let inserted = 0;
    for (let i = 0; i < quads.length; i += graphLimits.writeQuadsMax)
      inserted += (await writer.write({ insert: quads.slice(i, i + graphLimits.writeQuadsMax) })).inserted;
    return { inserted };
  }

  async matchTriples(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    query: TripleQuery = {},
  ): Promise<TriplePage> {
    const opened = await this.#readable(caller, repositoryId, collectionId);
    const pattern = readPattern(query);
    const question = [opened.collection.incarnation, ...patternKey(pattern)];
    const cursor =
      query.cursor === undefined ? undefined : await this.#cursors.open(caller.scope, question, query.cursor);
    const visible = await this.#visible(caller, [opened]);
    const page = await matchQuads(visible, caller, opened, pattern, {
      limit: pageLimit(query.limit),
      cursor: cursor as string | undefined,
    });
    const next_cursor = (await isLastPage(visible, caller, opened, pattern, page))
      ? null
      : await this.#cursors.seal(caller.scope, question, page.cursor as string);
    const more = query.include_metadata === true ? { collection: await this.#record(caller, opened) } : {};
    return { items: page.quads.map(tripleView), next_cursor, truncated: next_cursor !== null, ...more };
  }

  /** The union of several collections, each triple with its collection. The caller must be able to read all of them. */
  async matchAcross(caller: Caller, query: AcrossQuery): Promise<TriplePage<TaggedTriple> & QueryMore<CollectionName>> {
    const { all, missing } = await this.#readableAll(caller, query.collections, query);
    const pattern = readPattern(query);
    const limit = pageLimit(query.limit);
    const question = [all.map(({ collection }) => collection.incarnation), ...patternKey(pattern)];
    const position =
      query.cursor === undefined ? [0, null] : await this.#cursors.open(caller.scope, question, query.cursor);
    let [index, cursor] = position as [number, string | null];
    const items: TaggedTriple[] = [];
    const visible = await this.#visible(caller, all);
    while (index < all.length && items.length < limit) {
      const opened = all[index] as OpenCollection;
      const page = await matchQuads(visible, caller, opened, pattern, {
        limit: limit - items.length,
        cursor: cursor ?? undefined,
      });
      const { repository_id, collection_id } = opened.collection;
      items.push(...page.quads.map((quad) => ({ repository_id, collection_id, ...tripleView(quad) })));
      if (page.cursor === undefined) index += 1;
      cursor = page.cursor ?? null;
    }
    const next_cursor = index >= all.length ? null : await this.#cursors.seal(caller.scope, question, [index, cursor]);
    return { items, next_cursor, truncated: next_cursor !== null, ...(await this.#more(caller, all, missing, query)) };
  }

  /** All matches, streamed in an RDF format. */
  async exportTriples(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    {
      format,
      signal,
      ...input
    }: PatternInput & { readonly format: RdfWriteFormat; readonly signal?: AbortSignal | undefined },
  ): Promise<AsyncGenerator<string, void, void>> {
    const opened = await this.#readable(caller, repositoryId, collectionId);
    const pattern = readPattern(input);
    const info = Object.hasOwn(rdfFormats, format) ? rdfFormats[format] : undefined;
    if (info?.graphs === false && pattern.g === undefined) await this.#requireUnnamed(caller, opened, info.name);
    // A format without graphs exports the one named graph as its triples.
    const named = info?.graphs === false && pattern.g !== undefined && pattern.g !== defaultGraph;
    return this.#places.exports.stream(
      caller.scope.tenant,
      () => writeRdf(this.#all(caller, opened, pattern, named), { format }),
      signal,
    );
  }

  /** Whether there is such a graph: the default graph always, a named one while it has triples. */
  async hasGraph(caller: Caller, repositoryId: string, collectionId: string, graph?: string): Promise<boolean> {
    const g = readGraphName(graph);
    const opened = await this.#readable(caller, repositoryId, collectionId);
    if (g === defaultGraph) return true;
    const visible = await this.#visible(caller, [opened]);
    return (await matchQuads(visible, caller, opened, { g }, { limit: 1 })).quads.length > 0;
  }

  /** The graph is then what the bodies say (`replace`), or has it beside what it had. */
  async writeGraph(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: GraphInput & { readonly replace: boolean },
  ): Promise<GraphWritten> {
    requireCaller(caller);
    const g = readGraphName(input.graph);
    const opened = await this.#collections.open(caller, repositoryId, collectionId, {
      needed: "WRITE",
      action: "Changing a graph",
    });
    const [visible, writer] = [await this.#visible(caller, [opened]), await this.#writer(caller, opened)];
    const wanted = await readGraphBodies(input, g);
    await noteUse(this.#deps, caller.scope, opened.collection);
    const present: Quad[] = [];
    for await (const quads of quadPages(visible, caller, opened, { g })) {
      present.push(...quads);
      if (!input.replace) break;
      if (present.length > graphLimits.atomicQuadsMax * 2) break;
    }
    const created = g !== defaultGraph && present.length === 0 && wanted.length > 0;
    if (input.replace) return { created, ...(await replaceGraph(writer, present, wanted)) };
    if (wanted.length === 0) return { created, inserted: 0, removed: 0 };
    const { inserted } = await writer.write({ insert: wanted, atomic: true });
    return { created, inserted, removed: 0 };
  }

  /** Removes the matches of a pattern, or exact triples. */
  async removeTriples(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    removal: TripleRemoval = {},
  ): Promise<{ readonly removed: number }> {
    const opened = await this.#collections.open(caller, repositoryId, collectionId, {
      needed: "WRITE",
      action: "Removing triples",
    });
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    const pattern = readPattern(removal);
    const writer = await this.#writer(caller, opened);
    if (removal.triples !== undefined) {
      if (!isEmptyPattern(pattern)) throw invalid("Give either the triples to remove or a pattern, not both.");
      return removeGiven(writer, removal.triples);
    }
    const { collection_id } = opened.collection;
    if (removal.confirm === undefined ? isEmptyPattern(pattern) : removal.confirm !== collection_id)
      throw invalid(
        `confirm: must be the id of the collection, "${collection_id}": a pattern without s, p, o and g removes every triple.`,
      );
    let removed = 0;
    const visible = await this.#visible(caller, [opened]);
    for await (const quads of quadPages(visible, caller, opened, pattern, { all: true })) {
      // Labels are removed with the triples of their entities, and are not counted.
      const [own, rest] = pattern.g === undefined ? parted(quads) : [[], quads];
      if (own.length > 0) await writer.write({ remove: own });
      if (rest.length > 0) removed += (await writer.write({ remove: rest })).removed;
    }
    return { removed };
  }

  /** A query needs READ, an update WRITE. */
  async sparql(caller: Caller, repositoryId: string, collectionId: string, input: SparqlInput): Promise<SparqlAnswer> {
    requireCaller(caller);
    const text = readSparqlText(input);
    const settings = this.#settings(caller, input);
    if ("query" in text) {
      const opened = await this.#readable(caller, repositoryId, collectionId);
      const result = await this.#sparql.query(await this.#source(caller, [opened]), text.query, settings);
      return { ...result, ...(await this.#more(caller, [opened], [], { include_metadata: input.include_metadata })) };
    }
    if (input.include_metadata === true)
      throw invalid("include_metadata: is for queries; an update returns only its counts.");
    const opened = await this.#collections.open(caller, repositoryId, collectionId, {
      needed: "WRITE",
      action: "Changing triples",
    });
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    // An update never creates a collection.
    await noteUse(this.#deps, caller.scope, opened.collection);
    const writer = await this.#writer(caller, opened);
    const { inserted, removed } = await this.#sparql.update(
      await this.#source(caller, [opened]),
      writer,
      text.update,
      settings,
    );
    return { kind: "updated", inserted, removed };
  }

  /** A query over several collections as if they were one; the caller must be able to read all of them. */
  async sparqlAcross(caller: Caller, { collections, query, checkMore, ...input }: SparqlAcross): Promise<SparqlFound> {
    requireCaller(caller);
    readSparqlText({ query });
    const settings = this.#settings(caller, input);
    const { all, missing } = await this.#readableAll(caller, collections, input);
    const more = await this.#more(caller, all, missing, input);
    checkMore?.(more);
    return { ...(await this.#sparql.query(await this.#source(caller, all), query, settings)), ...more };
  }

  #settings(caller: Caller, input: SparqlSettings): SparqlOptions {
    return { ...readSparqlSettings(input), enter: () => this.#places.queries.enter(caller.scope.tenant, input.signal) };
  }

  async #readable(caller: Caller, repositoryId: string, collectionId: string): Promise<OpenCollection> {
    return openToQuery(this.#services, caller, repositoryId, collectionId, "Reading triples");
  }

  /** Deduplicated, in the given order. A missing collection refuses the request, unless it may be missing; a forbidden one always does. */
  async #readableAll(
    caller: Caller,
    names: readonly CollectionName[],
    { unknown_collections }: QueryWishes,
  ): Promise<{ readonly all: readonly OpenCollection[]; readonly missing: readonly CollectionName[] }> {
    requireCaller(caller);
    const { graphCollectionsMax: max } = knowledgeLimits;
    if (!Array.isArray(names) || names.length === 0 || names.length > max)
      throw invalid(`collections: must be a list of 1 to ${max} collections as { repository, collection }.`);
    const all = new Map<string, OpenCollection>();
    const open = async ({ repository, collection }: CollectionName): Promise<void> => {
      const opened = await this.#readable(caller, repository, collection);
      all.set(opened.collection.incarnation, opened);
    };
    if (unknown_collections === "empty")
      return { missing: (await knownAmong(names, open)).missing, all: [...all.values()] };
    for (const name of names as readonly CollectionName[]) await open(name);
    return { all: [...all.values()], missing: [] };
  }

  /** The extra fields of a query's answer, as for searches. */
  async #more(
    caller: Caller,
    all: readonly OpenCollection[],
    missing: readonly CollectionName[],
    wishes: QueryWishes,
  ): Promise<QueryMore<CollectionName>> {
    return {
      ...(wishes.include_metadata === true
        ? { collections: await Promise.all(all.map((opened) => this.#record(caller, opened))) }
        : {}),
      ...(wishes.unknown_collections === "empty" ? { collection_exists: missing.length === 0, missing } : {}),
    };
  }

  /** The triples of these collections that the caller may see. */
  async #visible(caller: Caller, all: readonly OpenCollection[]): Promise<QuadDependencies> {
    return { triples: await visibleTriples(this.#deps, caller, all) };
  }

  async #writer(caller: Caller, opened: OpenCollection): Promise<SpaceWriter> {
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    const hidden = await hiddenDocuments(this.#deps, caller, opened);
    return new SpaceWriter(this.#deps, caller.scope, opened.collection, hidden);
  }

  async #source(caller: Caller, all: readonly OpenCollection[]): Promise<QuadSource> {
    const spaces = all.map(({ collection }) => collection.incarnation);
    const { triples } = await this.#visible(caller, all);
    // Counts only order the patterns of a query: those of the store are good enough, and cheap.
    const reads: QuadReads = {
      count: async (...asked) => this.#deps.triples.count(...asked),
      match: async (...asked) => triples.match(...asked),
      graphs: async (...asked) => triples.graphs(...asked),
    };
    return hideGraphs(tripleStoreSource(reads, caller.scope, spaces), [labelsGraph]);
  }

  async *#all(caller: Caller, opened: OpenCollection, pattern: QuadPattern, unnamed: boolean): AsyncGenerator<Quad> {
    for await (const quads of quadPages(await this.#visible(caller, [opened]), caller, opened, pattern))
      for (const quad of quads) yield unnamed ? { ...quad, g: defaultGraph } : quad;
  }

  async #requireUnnamed(caller: Caller, opened: OpenCollection, format: string): Promise<void> {
    const { triples } = await this.#visible(caller, [opened]);
    const graphs: TermText[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await triples.graphs(caller.scope, opened.collection.incarnation, { limit: 100, cursor });
      graphs.push(...page.graphs.filter((name) => name !== labelsGraph));
      ({ cursor } = page);
      if (cursor === undefined || graphs.length > 0) break;
    }
    if (graphs.length > 0)
      throw invalid(
        `${format} has no named graphs, but this collection does, such as ${graphs[0]}. Ask for TriG or N-Quads, or for one graph with "g" ("default": the unnamed one).`,
      );
  }

  async #record(caller: Caller, opened: OpenCollection): Promise<CollectionView> {
    return shownCollection(this.#deps, caller, opened);
  }
}
