/** A collection whose graph one caller loads and queries. */
import type { Caller } from "../../../src/domain/caller.ts";
import { termText } from "../../../src/domain/rdf.ts";
import type { LoadInput, LoadResult, SparqlInput, TripleQuery, TripleView } from "../../../src/knowledge/index.ts";
import type { RdfFormat, RdfWriteFormat } from "../../../src/rdf/index.ts";
import { body, type TestPinakes } from "../../knowledge/support/test-pinakes.ts";
import { itemsOf } from "../../../src/runtime/pages.ts";

export class GraphPlace {
  readonly test: TestPinakes;
  readonly caller: Caller;
  readonly repository: string;
  readonly collection: string;

  constructor(test: TestPinakes, repository: string, collection: string, caller: Caller = test.admin) {
    this.test = test;
    this.repository = repository;
    this.collection = collection;
    this.caller = caller;
  }

  static async make(
    test: TestPinakes,
    collection = "papers",
    repository = `r-${Math.random().toString(36).slice(2, 10)}`,
  ): Promise<GraphPlace> {
    await test.knowledge.repositories.create(test.admin, { repository_id: repository }).catch(() => {});
    await test.knowledge.collections.create(test.admin, repository, {
      collection_id: collection,
      name: `Name ${Math.random().toString(36).slice(2)}`,
    });
    return new GraphPlace(test, repository, collection);
  }

  as(caller: Caller): GraphPlace {
    return new GraphPlace(this.test, this.repository, this.collection, caller);
  }

  get graph() {
    return this.test.knowledge.graph;
  }

  async load(
    text: string | Uint8Array,
    more: Partial<LoadInput> & { readonly format?: RdfFormat } = {},
  ): Promise<LoadResult> {
    return this.graph.loadTriples(this.caller, this.repository, this.collection, {
      format: "turtle",
      body: body(text),
      ...more,
    });
  }

  async match(query: TripleQuery = {}) {
    return this.graph.matchTriples(this.caller, this.repository, this.collection, query);
  }

  /** Every triple as one line, page by page. */
  async lines(query: TripleQuery = {}): Promise<string[]> {
    const all = await Array.fromAsync(
      itemsOf((cursor) => this.match({ ...query, cursor })),
      line,
    );
    return all.toSorted();
  }

  async text(format: RdfWriteFormat, query: TripleQuery = {}): Promise<string> {
    const { s, p, o, g } = query;
    return (
      await Array.fromAsync(
        await this.graph.exportTriples(this.caller, this.repository, this.collection, { s, p, o, g, format }),
      )
    ).join("");
  }

  async sparql(input: SparqlInput) {
    return this.graph.sparql(this.caller, this.repository, this.collection, input);
  }

  /** The rows of a SELECT, values only. */
  async rows(query: string, more: SparqlInput = {}): Promise<(string | undefined)[][]> {
    const result = await this.sparql({ query, ...more });
    if (result.kind !== "bindings") throw new Error(`no rows but ${result.kind}`);
    return (await Array.fromAsync(result.rows)).map((row) => [...row]);
  }

  async remove(removal: Parameters<GraphPlace["graph"]["removeTriples"]>[3] = {}): Promise<number> {
    return (await this.graph.removeTriples(this.caller, this.repository, this.collection, removal)).removed;
  }

  async usage(): Promise<number> {
    return (await this.test.knowledge.collections.usage(this.caller, this.repository, this.collection)).triples;
  }
}

export function line({ s, p, o, g }: TripleView): string {
  return [s, p, o, ...(g === null ? [] : [g])].map(termText).join(" ");
}
