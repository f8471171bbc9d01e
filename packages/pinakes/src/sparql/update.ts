/**
 * Runs updates, one operation after another. Each computes all its removals and inserts before it writes them in one call; an operation
 * sees the writes of those before it. An empty graph does not exist: graphs come and go with their quads.
 */
import { invalid, PinakesError } from "../domain/errors.ts";
import { defaultGraph, iri, type Quad, type TermText } from "../domain/rdf.ts";
import type { QuadPattern } from "../ports/triple-store.ts";
import type { Operation, RdfTerm, UpdateOperation } from "./algebra.ts";
import { Held } from "./budget.ts";
import { compilePattern } from "./compile.ts";
import { Dataset, keyOf } from "./dataset.ts";
import { sourceFor } from "./hidden-graphs.ts";
import { sparqlLimits } from "./limits.ts";
import { emptyRow, type Environment, type Row } from "./node.ts";
import { parseSparqlUpdate, type Parsed } from "./parse.ts";
import { inPlace } from "./placed.ts";
import { datasetFor, type Request } from "./request.ts";
import { compileTemplate } from "./template.ts";
import type { QuadSink, QuadSource, SparqlOptions, UpdateCounts } from "./types.ts";
import { Variables } from "./variables.ts";

export async function runSparqlUpdate(
  source: QuadSource,
  sink: QuadSink,
  text: string,
  request: Request,
): Promise<UpdateCounts> {
  const operations = await parseSparqlUpdate(text, request.limits, request.options.baseIri);
  checkDataset(operations, request.options);
  const seen = sourceFor(source, operations, request.options);
  // Unsupported operations are rejected before anything is written.
  const compiled = operations.map(({ operation, baseIri }) =>
    compileOperation(operation, seen, sink, { ...request, facts: { ...request.facts, baseIri } }),
  );
  return inPlace(request, async () => {
    const sum = { inserted: 0, removed: 0 };
    for (const run of compiled) {
      request.budget.check();
      const { inserted, removed } = await run();
      sum.inserted += inserted;
      sum.removed += removed;
    }
    return sum;
  });
}

/** Combining the two is an error (SPARQL 1.1 Protocol, 2.2.3). */
function checkDataset(operations: readonly Parsed<UpdateOperation>[], { dataset }: SparqlOptions): void {
  if (dataset === undefined || dataset.default.length + dataset.named.length === 0) return;
  if (
    operations.some(
      ({ operation }) => operation.type === "change" && (operation.using !== undefined || operation.with !== undefined),
    )
  )
    throw invalid(
      "SPARQL: the graphs are specified both by the request (using-graph-uri, using-named-graph-uri) and by USING or WITH in the text; use one of them.",
    );
}

type Run = () => Promise<UpdateCounts>;
type Change = Extract<UpdateOperation, { type: "change" }>;
type Transfer = Extract<UpdateOperation, { type: "add" | "move" | "copy" }>;

function compileOperation(operation: UpdateOperation, source: QuadSource, sink: QuadSink, request: Request): Run {
  switch (operation.type) {
    case "change":
      return compileChange(operation, source, sink, request);
    case "clear":
    case "drop":
      return () => clear(operation.source, source, sink, request);
    case "create":
      return () => create(operation.source, operation.silent, source);
    case "add":
    case "move":
    case "copy":
      return () => transfer(operation, source, sink, request);
    default:
      throw new PinakesError(
        "NOT_SUPPORTED",
        `SPARQL: the update "${(operation as { readonly type: string }).type}" is not supported.`,
      );
  }
}

function compileChange(operation: Change, source: QuadSource, sink: QuadSink, request: Request): Run {
  const variables = new Variables();
  const { newBlank } = request.facts;
  const remove = compileTemplate(operation.delete, variables, newBlank);
  const insert = compileTemplate(operation.insert, variables, newBlank);
  const where: Operation = operation.where ?? { type: "bgp", patterns: [] };
  const node = compilePattern(where, variables, request.facts);
  return async () => {
    const dataset = updateDataset(operation, source, request);
    const environment: Environment = {
      dataset,
      active: dataset.default,
      outer: undefined,
      budget: request.budget,
      variables,
    };
    const change = new PlannedChange(request);
    try {
      for await (const rows of node.run(environment, emptyRow(environment))) {
        for (const row of rows) plan(change, row);
        if (request.budget.spend(rows.length)) await request.budget.pause();
      }
      return await change.write(sink);
    } finally {
      change.release();
    }
  };

  function plan(change: PlannedChange, row: Row): void {
    for (const quad of remove(row)) change.remove(quad);
    for (const quad of insert(row)) change.insert(quad);
  }
}

/** USING, or the graph of WITH together with all named graphs, or what the caller sees. */
function updateDataset(operation: Change, source: QuadSource, request: Request): Dataset {
  const usesGraphs =
    operation.using !== undefined ||
    (request.options.dataset?.default.length ?? 0) + (request.options.dataset?.named.length ?? 0) > 0;
  if (usesGraphs || operation.with === undefined) return datasetFor(source, request, operation.using);
  return new Dataset(source, request.budget, { default: [iri(operation.with.value)], named: "all" });
}

/** The changes of an operation. Inserts apply after removals: a quad in both is kept or added. */
class PlannedChange {
  readonly #removals = new Map<string, Quad>();
  readonly #inserts = new Map<string, Quad>();
  readonly #request: Request;
  readonly #held: Held;

  constructor(request: Request) {
    this.#request = request;
    this.#held = new Held(request.budget);
  }

  remove(quad: Quad): void {
    this.#add(this.#removals, quad);
  }

  insert(quad: Quad): void {
    this.#add(this.#inserts, quad);
  }

  #add(quads: Map<string, Quad>, quad: Quad): void {
    const key = keyOf(quad.s, quad.p, quad.o, quad.g);
    if (quads.has(key)) return;
    quads.set(key, quad);
    this.#held.add(1, 2 * key.length);
    const { updateQuadsMax } = this.#request.limits;
    if (this.#removals.size + this.#inserts.size > updateQuadsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `SPARQL: one operation would change more than ${updateQuadsMax} quads (updateQuadsMax), so none of it was written; change fewer quads at once.`,
      );
  }

  async write(sink: QuadSink): Promise<UpdateCounts> {
    const remove = [...this.#removals].flatMap(([key, quad]) => (this.#inserts.has(key) ? [] : [quad]));
    const insert = [...this.#inserts.values()];
    return remove.length + insert.length === 0 ? { inserted: 0, removed: 0 } : sink.write({ remove, insert });
  }

  release(): void {
    this.#held.release();
  }
}

function graphName(name: "DEFAULT" | RdfTerm): TermText {
  return name === "DEFAULT" ? defaultGraph : iri(name.value);
}

/** Page by page: each removal makes room for the next page. */
async function clear(
  target: "DEFAULT" | "NAMED" | "ALL" | RdfTerm,
  source: QuadSource,
  sink: QuadSink,
  request: Request,
): Promise<UpdateCounts> {
  if (target === "NAMED") {
    let removed = 0;
    for (let names = await graphPage(source); names.length > 0; names = await graphPage(source))
      for (const g of names) removed += await clearPattern({ g }, source, sink, request);
    return { inserted: 0, removed };
  }
  const removed = await clearPattern(target === "ALL" ? {} : { g: graphName(target) }, source, sink, request);
  // Hidden quads are removed as well, but are not counted in the result.
  if (target === "ALL")
    for (const g of source.hidden?.graphs ?? []) await clearPattern({ g }, source.hidden?.all ?? source, sink, request);
  return { inserted: 0, removed };
}

/** The first existing names: a page of only hidden names is not the end. */
async function graphPage(source: QuadSource): Promise<readonly TermText[]> {
  let page = await source.graphs({ limit: sparqlLimits.pageQuadsMax });
  while (page.graphs.length === 0 && page.cursor !== undefined)
    page = await source.graphs({ limit: sparqlLimits.pageQuadsMax, cursor: page.cursor });
  return page.graphs;
}

async function clearPattern(
  pattern: QuadPattern,
  source: QuadSource,
  sink: QuadSink,
  { budget }: Request,
): Promise<number> {
  let removed = 0;
  let from: string | undefined;
  for (;;) {
    budget.check();
    const { quads, cursor } = await source.match(pattern, { limit: sparqlLimits.pageQuadsMax, cursor: from });
    if (quads.length === 0 && cursor === undefined) return removed;
    // This part has no visible quads.
    if (quads.length === 0) {
      from = cursor;
      continue;
    }
    const counts = await sink.write({ remove: quads, insert: [] });
    if (counts.removed === 0)
      throw new PinakesError(
        "UNAVAILABLE",
        "SPARQL: the store still shows quads that were removed; repeat the update.",
      );
    removed += counts.removed;
  }
}

async function create(name: RdfTerm, silent: boolean, source: QuadSource): Promise<UpdateCounts> {
  if (!silent && (await holdsAny(source, graphName(name))))
    throw new PinakesError(
      "CONFLICT",
      `SPARQL: CREATE: the graph <${name.value}> already exists; use CREATE SILENT to ignore this.`,
    );
  return { inserted: 0, removed: 0 };
}

async function holdsAny(source: QuadSource, g: TermText): Promise<boolean> {
  return (await source.match({ g }, { limit: 1 })).quads.length > 0;
}

async function transfer(
  { type, source: from, destination: to, silent }: Transfer,
  source: QuadSource,
  sink: QuadSink,
  request: Request,
): Promise<UpdateCounts> {
  const [g, target] = [graphName(from), graphName(to)];
  if (g === target) return { inserted: 0, removed: 0 };
  // Copying from a misspelt graph must not empty the target.
  if (g !== defaultGraph && !(await holdsAny(source, g))) {
    if (silent) return { inserted: 0, removed: 0 };
    throw new PinakesError(
      "NOT_FOUND",
      `SPARQL: ${type.toUpperCase()}: there is no graph ${g}; use SILENT to ignore this.`,
    );
  }
  let removed = type === "add" ? 0 : await clearPattern({ g: target }, source, sink, request);
  let inserted = 0;
  let cursor: string | undefined;
  do {
    request.budget.check();
    const page = await source.match({ g }, { limit: sparqlLimits.pageQuadsMax, cursor });
    if (page.quads.length > 0)
      inserted += (await sink.write({ remove: [], insert: page.quads.map((quad) => ({ ...quad, g: target })) }))
        .inserted;
    ({ cursor } = page);
  } while (cursor !== undefined);
  if (type === "move") removed += await clearPattern({ g }, source, sink, request);
  return { inserted, removed };
}
