/** The common parts of queries and updates: limits, constants of the request, and the graphs it sees. */
import { randomUUID } from "node:crypto";
import { invalid } from "../domain/errors.ts";
import { defaultGraph, iri, type TermText } from "../domain/rdf.ts";
import type { RdfTerm } from "./algebra.ts";
import { Budget } from "./budget.ts";
import { Dataset, type GraphSet } from "./dataset.ts";
import type { RequestFacts } from "./expressions/functions.ts";
import { isAbsoluteIri } from "./iri.ts";
import { defaultSparqlLimits, sparqlLimits, type SparqlLimits } from "./limits.ts";
import type { QuadSource, SparqlOptions } from "./types.ts";

/** The source of time; the system clocks by default. */
export interface SparqlClock {
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  readonly date: () => Date;
}

export interface Request {
  readonly limits: SparqlLimits;
  readonly budget: Budget;
  readonly facts: RequestFacts;
  readonly options: SparqlOptions;
}

const systemClock: SparqlClock = { elapsed: () => performance.now(), date: () => new Date() };

export function newRequest(
  defaults: Partial<SparqlLimits>,
  options: SparqlOptions,
  clock: SparqlClock = systemClock,
): Request {
  const limits = checkLimits({ ...defaultSparqlLimits, ...defaults, ...options.limits });
  if (options.baseIri !== undefined && !isAbsoluteIri(options.baseIri))
    throw invalid(`SPARQL: the base IRI must be absolute; got "${options.baseIri.slice(0, 200)}".`);
  const budget = new Budget(limits, options.signal, clock.elapsed);
  budget.check();
  return {
    limits,
    budget,
    options,
    facts: { now: clock.date(), baseIri: options.baseIri, newBlank: () => `n${randomUUID().replaceAll("-", "")}` },
  };
}

function checkLimits(limits: SparqlLimits): SparqlLimits {
  for (const [name, value] of Object.entries(limits))
    if (!Number.isInteger(value) || (value as number) < 0)
      throw invalid(`SPARQL: the limit ${name} is a whole number of at least 0; got ${value}.`);
  if (limits.timeoutMs > sparqlLimits.timeoutMsMax)
    throw invalid(`SPARQL: timeoutMs is at most ${sparqlLimits.timeoutMsMax}; got ${limits.timeoutMs}.`);
  return limits;
}

interface NamedGraphs {
  readonly default: readonly RdfTerm[];
  readonly named: readonly RdfTerm[];
}

/**
 * The dataset of the protocol takes precedence over that of the text, which takes precedence over the caller's. Naming any graph hides all
 * others.
 */
export function datasetFor(source: QuadSource, { budget, options }: Request, named: NamedGraphs | undefined): Dataset {
  const texts = (terms: readonly (RdfTerm | string)[]): readonly TermText[] =>
    terms.map((term) => iri(typeof term === "string" ? term : term.value));
  const chosen = isGiven(options.dataset) ? options.dataset : named;
  if (chosen !== undefined && isGiven(chosen))
    return new Dataset(source, budget, { default: texts(chosen.default), named: texts(chosen.named) });
  return new Dataset(source, budget, { default: usualDefault(options), named: "all" });
}

function isGiven(
  graphs: { readonly default: readonly unknown[]; readonly named: readonly unknown[] } | undefined,
): boolean {
  return graphs !== undefined && graphs.default.length + graphs.named.length > 0;
}

export function usualDefault({ defaultGraph: choice }: SparqlOptions): GraphSet {
  return choice === "union" ? "all" : [defaultGraph];
}
