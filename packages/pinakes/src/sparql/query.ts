/** The four query forms. */
import { PinakesError } from "../domain/errors.ts";
import { defaultGraph, type Quad, type TermText } from "../domain/rdf.ts";
import type { Operation, RdfTerm } from "./algebra.ts";
import { Held } from "./budget.ts";
import { compilePattern } from "./compile.ts";
import { keyOf } from "./dataset.ts";
import { describe } from "./describe.ts";
import { sourceFor } from "./hidden-graphs.ts";
import { hasRows } from "./nodes/evaluate.ts";
import { emptyRow, type Environment, type PatternNode, type Row } from "./node.ts";
import { parseSparqlQuery } from "./parse.ts";
import { inPlace, placed } from "./placed.ts";
import { datasetFor, type Request } from "./request.ts";
import { compileTemplate } from "./template.ts";
import type { Binding, QuadSource, SparqlResult } from "./types.ts";
import { Variables } from "./variables.ts";

export async function runSparqlQuery(source: QuadSource, text: string, request: Request): Promise<SparqlResult> {
  const { operation: whole, baseIri } = await parseSparqlQuery(text, request.limits, request.options.baseIri);
  const facts = { ...request.facts, baseIri };
  const named = whole.type === "from" ? whole : undefined;
  const operation = named === undefined ? whole : named.input;
  const variables = new Variables();
  const dataset = datasetFor(sourceFor(source, whole, request.options), request, named);
  const environment: Environment = {
    dataset,
    active: dataset.default,
    outer: undefined,
    budget: request.budget,
    variables,
  };
  const compile = (pattern: Operation) => compilePattern(pattern, variables, facts);
  const form = formOf(operation);
  switch (form.type) {
    case "ask": {
      const node = compile(form.input);
      return { kind: "boolean", value: await inPlace(request, () => hasRows(environment, node)) };
    }
    case "construct": {
      const template = compileTemplate(form.template, variables, request.facts.newBlank);
      const node = compile(form.input);
      return { kind: "quads", quads: placed(request, () => construct(environment, node, template)) };
    }
    case "describe": {
      const node = compile(form.input);
      const slots = form.terms.filter(({ termType }) => termType === "Variable").map((term) => variables.slotOf(term));
      const fixed = form.terms.filter(({ termType }) => termType === "NamedNode");
      return {
        kind: "quads",
        quads: placed(request, () => limited(environment, describe(environment, node, slots, fixed))),
      };
    }
    default: {
      const names = projection(operation);
      const node = compile(operation);
      const slots = names.map((term) => variables.slotOf(term));
      return {
        kind: "bindings",
        variables: names.map(({ value }) => value),
        rows: placed(request, () => select(environment, node, slots)),
      };
    }
  }
}

/** LIMIT and OFFSET enclose CONSTRUCT, ASK and DESCRIBE in the algebra, but apply to their solutions. */
function formOf(operation: Operation): Operation {
  if (operation.type !== "slice") return operation;
  const { input } = operation;
  if (input.type !== "construct" && input.type !== "ask" && input.type !== "describe") return operation;
  return { ...input, input: { ...operation, input: input.input } };
}

function projection(operation: Operation): readonly RdfTerm[] {
  let inner = operation;
  while (inner.type === "slice" || inner.type === "distinct" || inner.type === "reduced") inner = inner.input;
  if (inner.type !== "project")
    throw new PinakesError("NOT_SUPPORTED", `SPARQL: a query of type "${inner.type}" is not supported.`);
  return inner.variables;
}

async function* select(environment: Environment, node: PatternNode, slots: readonly number[]): AsyncGenerator<Binding> {
  let count = 0;
  for await (const rows of node.run(environment, emptyRow(environment))) {
    for (const row of rows) {
      checkResult(environment, (count += 1));
      yield slots.map((slot) => row[slot]);
    }
    if (environment.budget.spend(rows.length)) await environment.budget.pause();
  }
}

function checkResult({ budget: { limits } }: Environment, count: number): void {
  if (count > limits.resultRowsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `SPARQL: the result has more than ${limits.resultRowsMax} rows (resultRowsMax), so it was stopped; use LIMIT.`,
    );
}

async function* limited(environment: Environment, quads: AsyncIterable<Quad>): AsyncGenerator<Quad> {
  let count = 0;
  for await (const quad of quads) {
    checkResult(environment, (count += 1));
    yield quad;
  }
}

/** A graph is a set: duplicates are returned once. */
async function* construct(
  environment: Environment,
  node: PatternNode,
  template: (row: Row) => readonly Quad[],
): AsyncGenerator<Quad> {
  const seen = new Set<TermText>();
  const held = new Held(environment.budget);
  try {
    for await (const rows of node.run(environment, emptyRow(environment))) {
      for (const row of rows) {
        for (const { s, p, o } of template(row)) {
          const key = keyOf(s, p, o);
          if (seen.has(key)) continue;
          seen.add(key);
          held.add(1, key.length);
          checkResult(environment, seen.size);
          yield { s, p, o, g: defaultGraph };
        }
      }
      if (environment.budget.spend(rows.length)) await environment.budget.pause();
    }
  } finally {
    held.release();
  }
}
