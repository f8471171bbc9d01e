/**
 * From text to algebra. The grammar is @traqula's; it is loaded with the first request, since making its tables takes a third of a second.
 */
import { invalid, PinakesError } from "../domain/errors.ts";
import type { Operation, RdfTerm, TriplePattern, UpdateOperation } from "./algebra.ts";
import { resolveIri } from "./iri.ts";
import { sparqlLimits, type SparqlLimits } from "./limits.ts";
import { inOrderOfText } from "./wildcard.ts";
import { syntaxError, thrownError, type SyntaxProblem } from "./parse-errors.ts";

interface Grammar {
  parse(text: string): Ast;
  toAlgebra(ast: Ast, options: { readonly quads?: boolean; readonly baseIRI?: string | undefined }): unknown;
}

interface Ast {
  readonly type: "query" | "update";
  readonly updates?: readonly { readonly context: readonly unknown[]; readonly operation?: AstUpdate }[];
  readonly context?: readonly unknown[];
  /** Of a SELECT or DESCRIBE. */
  readonly variables?: readonly { readonly type: string }[];
}

interface AstUpdate {
  readonly subType: string;
  readonly where?: { readonly patterns: readonly unknown[] };
}

let loading: Promise<Grammar> | undefined;

export async function parseSparqlQuery(text: string, limits: SparqlLimits, baseIri: string | undefined): Promise<Operation> {
  const grammar = await load(text, limits.queryCharsMax, "queryCharsMax");
  return guarded(text, () => {
    const ast = grammar.parse(text);
    if (ast.type !== "query") throw invalid("SPARQL: this is an update; send it as `update`, not as `query` (on the command line with --update).");
    const operation = checkDepth(grammar.toAlgebra(ast, { baseIRI: baseIri })) as Operation;
    return ast.variables?.[0]?.type === "wildcard" ? inOrderOfText(operation, text) : operation;
  });
}

export async function parseSparqlUpdate(text: string, limits: SparqlLimits, baseIri: string | undefined): Promise<readonly UpdateOperation[]> {
  const grammar = await load(text, limits.updateCharsMax, "updateCharsMax");
  return guarded(text, () => {
    const ast = grammar.parse(text);
    if (ast.type !== "update") throw invalid("SPARQL: this is a query; send it as `query`, not as `update` (on the command line without --update).");
    // Prefixes and the base are in force from where they are declared on, also for the operations after.
    const context: unknown[] = [];
    return (ast.updates ?? []).flatMap(({ context: added, operation }) => {
      context.push(...added);
      return operation === undefined ? [] : [updateOperation(grammar, operation, [...context], baseIri)];
    });
  });
}

/**
 * The library translates the WHERE of an update by writing graph names into its patterns, which loses where a GRAPH began. So the WHERE is
 * translated as that of a query, and the rest without it.
 */
function updateOperation(grammar: Grammar, operation: AstUpdate, context: readonly unknown[], baseIri: string | undefined): UpdateOperation {
  if (operation.subType === "load")
    throw new PinakesError("NOT_SUPPORTED", "SPARQL: LOAD is off: this server fetches nothing from elsewhere. Read the file yourself and import it.");
  const modify = operation.subType === "modify" ? (operation as ModifyAst) : undefined;
  const plain = modify === undefined ? operation : { ...modify, where: { ...modify.where, patterns: [] } };
  const whole = grammar.toAlgebra({ type: "update", updates: [{ context, operation: plain }] }, { quads: true, baseIRI: baseIri }) as TranslatedUpdate;
  if (whole.type !== "deleteinsert") return { ...whole, silent: whole.silent === true } as unknown as UpdateOperation;
  const change = { type: "change", delete: whole.delete ?? [], insert: whole.insert ?? [], with: undefined, using: undefined } as const;
  if (operation.subType === "deletewhere") return { ...change, where: whereOf(change.delete) };
  if (modify === undefined) return { ...change, where: undefined };
  const graph = modify.graph === undefined ? [] : [{ clauseType: "default", value: modify.graph }];
  const select = { type: "query", subType: "select", context, where: modify.where, solutionModifiers: {}, variables: [{ type: "wildcard" }] };
  const translate = (clauses: readonly unknown[]) =>
    checkDepth(grammar.toAlgebra({ ...select, datasets: { type: "datasetClauses", clauses } } as unknown as Ast, { baseIRI: baseIri })) as Operation;
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

/** DELETE WHERE: its template is its pattern, each part in the graph it names. */
function whereOf(patterns: readonly TriplePattern[]): Operation {
  const byGraph = Map.groupBy(patterns, ({ graph }) => `${graph.termType} ${graph.value}`);
  const input = [...byGraph.values()].map((group): Operation => {
    const name = group[0]?.graph as RdfTerm;
    const bgp: Operation = { type: "bgp", patterns: group };
    return name.termType === "DefaultGraph" ? bgp : { type: "graph", name, input: bgp };
  });
  return { type: "join", input };
}

async function load(text: unknown, charsMax: number, limitName: string): Promise<Grammar> {
  if (typeof text !== "string") throw invalid("SPARQL: the request is a text.");
  if (text.length > charsMax)
    throw new PinakesError("LIMIT_EXCEEDED", `SPARQL: the text has ${text.length} characters; at most ${charsMax} are allowed (${limitName}).`);
  checkBrackets(text);
  loading ??= loadGrammar();
  return loading;
}

/** Strings, IRIs and comments are passed over; what stands alone is a bracket. */
const bracketOrText = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|<[^<>"{}|^`\\\s]*>|#[^\n]*|[()[\]{}]/g;

function checkBrackets(text: string): void {
  let depth = 0;
  for (const [word] of text.matchAll(bracketOrText)) {
    if (word === "(" || word === "[" || word === "{") depth += 1;
    else if (word === ")" || word === "]" || word === "}") depth -= 1;
    if (depth > sparqlLimits.bracketsMax)
      throw new PinakesError("LIMIT_EXCEEDED", `SPARQL: brackets may be nested ${sparqlLimits.bracketsMax} deep (bracketsMax); write it flatter.`);
  }
}

async function loadGrammar(): Promise<Grammar> {
  const [{ Parser }, { toAlgebra, toAlgebra11Builder }] = await Promise.all([import("@traqula/parser-sparql-1-1"), import("@traqula/algebra-sparql-1-1")]);
  // The library begins to count its own variables anew after each subquery, and forgets which names the text uses: two of them, or one and
  // the user's `?var0`, could be the same. A name that no text can hold, counted once for all, never is.
  let made = 0;
  toAlgebra11Builder.patchRule({ name: "generateFreshVar", fun: () => (c) => c.dataFactory.variable(`.${(made += 1)}`) });
  // It also resolves relative IRIs by appending them, dots and all, and takes a prefix of no characters for an unknown one.
  toAlgebra11Builder.patchRule({
    name: "translateNamed",
    fun: () => (c, term) => {
      const prefix = (term as { readonly prefix?: string }).prefix;
      const start = prefix === undefined ? "" : c.currentPrefixes[prefix];
      if (start === undefined) throw new Error(`Unknown prefix: ${prefix}`);
      const whole = resolveIri(start + term.value, c.currentBase);
      if (whole === undefined) throw new Error(`The IRI <${(start + term.value).slice(0, 200)}> is relative and there is no BASE; write it in full.`);
      return c.dataFactory.namedNode(whole);
    },
  });
  let current = "";
  const errorHandler = (problems: readonly SyntaxProblem[]): never => {
    throw syntaxError(current, problems[0] as SyntaxProblem);
  };
  // The handler is an argument of the builder that the class passes on, though its type does not say so.
  const parser = new Parser({ errorHandler } as ConstructorParameters<typeof Parser>[0]);
  return {
    parse: (text) => {
      current = text;
      return parser.parse(text);
    },
    toAlgebra: (ast, { quads, baseIRI }) =>
      toAlgebra(ast as unknown as Parameters<typeof toAlgebra>[0], {
        ...(quads === undefined ? {} : { quads }),
        ...(baseIRI === undefined ? {} : { baseIRI }),
      }),
  };
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
    `SPARQL: operators may be nested ${sparqlLimits.depthMax} deep (depthMax); write it flatter, a long chain of || as IN.`,
    { cause },
  );
}

/** Without recursion: what it looks for is what recursion could not bear. */
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
