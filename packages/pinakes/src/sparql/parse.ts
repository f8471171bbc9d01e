/** Parses text to algebra. */
import { invalid, PinakesError } from "../domain/errors.ts";
import type { Operation, RdfTerm, TriplePattern, UpdateOperation } from "./algebra.ts";
import { loadGrammar, withoutCodepointEscapes, type Ast, type AstUpdate, type Grammar } from "./grammar.ts";
import { resolveIri } from "./iri.ts";
import { sparqlLimits, type SparqlLimits } from "./limits.ts";
import { thrownError } from "./parse-errors.ts";

/** The parsed text, and its base IRI, which expressions also need at evaluation. */
export interface Parsed<T> {
  readonly operation: T;
  readonly baseIri: string | undefined;
}

export async function parseSparqlQuery(
  text: string,
  limits: SparqlLimits,
  baseIri: string | undefined,
): Promise<Parsed<Operation>> {
  const plain = checkedText(text, limits.queryCharsMax, "queryCharsMax");
  const grammar = await loadGrammar();
  return guarded(plain, () => {
    const ast = grammar.parse(plain);
    if (ast.type !== "query")
      throw invalid(
        "SPARQL: this is an update; send it as `update`, not as `query` (on the command line with --update).",
      );
    const operation = checkDepth(grammar.toAlgebra(ast, { baseIRI: baseIri })) as Operation;
    const ordered = ast.variables?.[0]?.type === "wildcard" ? inOrderOfText(operation, plain) : operation;
    return { operation: ordered, baseIri: baseOf(ast.context ?? [], baseIri) };
  });
}

export async function parseSparqlUpdate(
  text: string,
  limits: SparqlLimits,
  baseIri: string | undefined,
): Promise<readonly Parsed<UpdateOperation>[]> {
  const plain = checkedText(text, limits.updateCharsMax, "updateCharsMax");
  const grammar = await loadGrammar();
  return guarded(plain, () => {
    const ast = grammar.parse(plain);
    if (ast.type !== "update")
      throw invalid(
        "SPARQL: this is a query; send it as `query`, not as `update` (on the command line without --update).",
      );
    // Prefixes and BASE are valid from their declaration on, also for later operations.
    const context: unknown[] = [];
    return (ast.updates ?? []).flatMap(({ context: added, operation }) => {
      context.push(...added);
      if (operation === undefined) return [];
      return [
        { operation: updateOperation(grammar, operation, [...context], baseIri), baseIri: baseOf(context, baseIri) },
      ];
    });
  });
}

/** The BASE after these declarations, each of which may be relative to the previous one. */
function baseOf(context: readonly unknown[], given: string | undefined): string | undefined {
  let base = given;
  for (const { subType, value } of context as readonly {
    readonly subType: string;
    readonly value: { readonly value: string };
  }[])
    if (subType === "base") base = resolveIri(value.value, base);
  return base;
}

/**
 * The library translates the WHERE of an update by copying graph names into its patterns, which loses the extent of each GRAPH. So the
 * WHERE is translated like that of a query, and the rest separately.
 */
function updateOperation(
  grammar: Grammar,
  operation: AstUpdate,
  context: readonly unknown[],
  baseIri: string | undefined,
): UpdateOperation {
  if (operation.subType === "load")
    throw new PinakesError(
      "NOT_SUPPORTED",
      "SPARQL: LOAD is disabled: this server does not fetch remote data. Download the file yourself and import it.",
    );
  const modify = operation.subType === "modify" ? (operation as ModifyAst) : undefined;
  const plain = modify === undefined ? operation : { ...modify, where: { ...modify.where, patterns: [] } };
  const whole = grammar.toAlgebra(
    { type: "update", updates: [{ context, operation: plain }] },
    { quads: true, baseIRI: baseIri },
  ) as TranslatedUpdate;
  if (whole.type !== "deleteinsert") return { ...whole, silent: whole.silent === true } as unknown as UpdateOperation;
  const change = {
    type: "change",
    delete: whole.delete ?? [],
    insert: whole.insert ?? [],
    with: undefined,
    using: undefined,
  } as const;
  if (operation.subType === "deletewhere") return { ...change, where: whereOf(change.delete) };
  if (modify === undefined) return { ...change, where: undefined };
  const graph = modify.graph === undefined ? [] : [{ clauseType: "default", value: modify.graph }];
  const select = {
    type: "query",
    subType: "select",
    context,
    where: modify.where,
    solutionModifiers: {},
    variables: [{ type: "wildcard" }],
  };
  const translate = (clauses: readonly unknown[]) =>
    checkDepth(
      grammar.toAlgebra({ ...select, datasets: { type: "datasetClauses", clauses } } as unknown as Ast, {
        baseIRI: baseIri,
      }),
    ) as Operation;
  const translated = translate(modify.from.clauses);
  const withGraph = modify.graph === undefined ? undefined : translate(graph);
  const from = translated.type === "from" ? translated : undefined;
  return {
    ...change,
    where: from === undefined ? translated : from.input,
    using: from,
    with: withGraph?.type === "from" ? withGraph.default[0] : undefined,
  };
}

interface ModifyAst extends AstUpdate {
  readonly graph?: unknown;
  readonly from: { readonly clauses: readonly unknown[] };
  readonly where: { readonly patterns: readonly unknown[] };
}

interface TranslatedUpdate {
  readonly type: string;
  readonly silent?: boolean;
  readonly delete?: readonly TriplePattern[];
  readonly insert?: readonly TriplePattern[];
}

/** DELETE WHERE: the pattern is also the template, each part in the graph it names. */
function whereOf(patterns: readonly TriplePattern[]): Operation {
  const byGraph = Map.groupBy(patterns, ({ graph }) => `${graph.termType} ${graph.value}`);
  const input = [...byGraph.values()].map((group): Operation => {
    const name = group[0]?.graph as RdfTerm;
    const bgp: Operation = { type: "bgp", patterns: group };
    return name.termType === "DefaultGraph" ? bgp : { type: "graph", name, input: bgp };
  });
  return { type: "join", input };
}

function checkedText(text: unknown, charsMax: number, limitName: string): string {
  if (typeof text !== "string") throw invalid("SPARQL: the request must be a string.");
  if (text.length > charsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `SPARQL: the text has ${text.length} characters; at most ${charsMax} are allowed (${limitName}).`,
    );
  const plain = withoutCodepointEscapes(text);
  if (!plain.isWellFormed())
    throw invalid("SPARQL: the text contains an unpaired surrogate; write the whole character.");
  checkBrackets(plain);
  return plain;
}

/** Skips strings, IRIs, comments and escapes in names; what remains are brackets. */
const bracketOrText =
  /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|<[^<>"{}|^`\\\s]*>|#[^\n\r]*|\\.|[()[\]{}]/g;

function checkBrackets(text: string): void {
  let depth = 0;
  for (const [word] of text.matchAll(bracketOrText)) {
    if (word === "(" || word === "[" || word === "{") depth += 1;
    else if (word === ")" || word === "]" || word === "}") depth -= 1;
    if (depth > sparqlLimits.bracketsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `SPARQL: brackets may be nested ${sparqlLimits.bracketsMax} deep (bracketsMax); reduce the nesting.`,
      );
  }
}

function guarded<T>(text: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (PinakesError.isInstance(error)) throw error;
    if (error instanceof RangeError) throw tooDeep(error);
    throw thrownError(text, error);
  }
}

function tooDeep(cause?: unknown): PinakesError {
  return new PinakesError(
    "LIMIT_EXCEEDED",
    `SPARQL: operators may be nested ${sparqlLimits.depthMax} deep (depthMax); reduce the nesting, for example by writing a long chain of || as IN.`,
    { cause },
  );
}

/** Not recursive: it detects depths that recursion could not handle. */
function checkDepth(operation: unknown): unknown {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: operation, depth: 0 }];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const { value, depth } = entry;
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) {
      for (const part of value) open.push({ value: part, depth });
      continue;
    }
    if (depth > sparqlLimits.depthMax) throw tooDeep();
    const deeper = "type" in value ? depth + 1 : depth;
    for (const part of Object.values(value)) open.push({ value: part, depth: deeper });
  }
  return operation;
}

/** Skips strings, IRIs, comments and escapes in names; what remains are variables. */
const variableOrText =
  /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|<[^<>"{}|^`\\\s]*>|#[^\n\r]*|\\.|[?$]([\p{L}\p{N}\p{M}_\u00B7\u203F\u2040]+)/gu;

/** `SELECT *`: the columns are in the order in which the query first mentions the variables. */
function inOrderOfText(operation: Operation, text: string): Operation {
  switch (operation.type) {
    case "from":
    case "slice":
    case "distinct":
    case "reduced":
      return { ...operation, input: inOrderOfText(operation.input, text) };
    case "project":
      return { ...operation, variables: variablesInOrder(operation.variables, text) };
    default:
      return operation;
  }
}

function variablesInOrder(variables: readonly RdfTerm[], text: string): readonly RdfTerm[] {
  const places = new Map<string, number>();
  for (const { 1: name, index } of text.matchAll(variableOrText))
    if (name !== undefined && !places.has(name)) places.set(name, index);
  const placeOf = ({ value }: RdfTerm) => places.get(value) ?? text.length;
  return variables.toSorted((a, b) => placeOf(a) - placeOf(b));
}
