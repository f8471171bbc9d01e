/** Tests of SPARQL, whatever runs them: in process, or a server over HTTP. */
import { hasCode } from "../../../src/domain/errors.ts";
import { defaultGraph, iri, termOf, type Quad, type TermText } from "../../../src/domain/rdf.ts";
import { readByOxigraph } from "../../../src/rdf/test-rdf.ts";
import { sameDataset, sameResults } from "./compare.ts";
import { graphFiles, mf, qt, textOf, ut, type Facts, type GraphFile, type W3cTest } from "./manifest.ts";
import { mediaTypes, readResults, type ResultFormat } from "./read-results.ts";
import { passed, wrong, type Outcome } from "./suite.ts";

export interface Ask {
  readonly base: string;
  /** Of rows or of a yes or no. */
  readonly accept: (typeof mediaTypes)[keyof typeof mediaTypes];
}

/** What runs the requests. It throws a PinakesError for what is refused. */
export interface Endpoint {
  /** Holds exactly these files from now on. */
  reset(files: readonly GraphFile[]): Promise<void>;
  /** Results in the format that was asked for, triples as N-Triples. */
  query(text: string, ask: Ask): Promise<string>;
  update(text: string, ask: Pick<Ask, "base">): Promise<void>;
  dump(): Promise<readonly Quad[]>;
}

export async function sparqlTest(test: W3cTest, endpoint: Endpoint): Promise<Outcome> {
  const { type, facts, node } = test;
  const action = facts.one(node, `${mf}action`) as TermText;
  switch (type) {
    case "QueryEvaluationTest":
    case "CSVResultFormatTest":
      return queryTest(test, action, endpoint);
    case "UpdateEvaluationTest":
      return updateTest(facts, node, action, endpoint);
    case "PositiveSyntaxTest":
    case "PositiveSyntaxTest11":
    case "PositiveUpdateSyntaxTest":
    case "PositiveUpdateSyntaxTest11":
      return syntaxTest(termOf(action).value, true, endpoint);
    case "NegativeSyntaxTest":
    case "NegativeSyntaxTest11":
    case "NegativeUpdateSyntaxTest":
    case "NegativeUpdateSyntaxTest11":
      return syntaxTest(termOf(action).value, false, endpoint);
    default:
      return wrong(`a test of the unknown type ${type}`);
  }
}

async function syntaxTest(file: string, isPositive: boolean, endpoint: Endpoint): Promise<Outcome> {
  const text = textOf(file);
  const run = file.endsWith(".ru")
    ? endpoint.update(text, { base: file })
    : endpoint.query(text, { base: file, accept: mediaTypes.srj });
  if (isPositive) {
    try {
      await run;
    } catch (error) {
      // LOAD and SERVICE were read, which is all that a test of the syntax asks, and then refused.
      if (!hasCode(error, "NOT_SUPPORTED")) throw error;
    }
    return passed;
  }
  try {
    await run;
    return wrong("accepted though it is no SPARQL");
  } catch (error) {
    if (hasCode(error, "INVALID")) return passed;
    throw error;
  }
}

async function queryTest({ facts, node }: W3cTest, action: TermText, endpoint: Endpoint): Promise<Outcome> {
  const isPlain = action.startsWith("<");
  const file = isPlain ? termOf(action).value : (facts.value(action, `${qt}query`) as string);
  const result = facts.value(node, `${mf}result`);
  const format = result?.slice(result.lastIndexOf(".") + 1) as ResultFormat;
  const text = textOf(file);
  await endpoint.reset(isPlain ? [] : filesOf(facts, action, text, file));
  const accept = format in mediaTypes ? mediaTypes[format as keyof typeof mediaTypes] : mediaTypes.srj;
  const answer = await endpoint.query(text, { base: file, accept });
  if (result === undefined) return passed;
  const expectedText = textOf(result);
  if (isGraph(format, expectedText)) {
    const expected = readByOxigraph(
      format === "ttl" ? "turtle" : format === "nt" ? "ntriples" : "rdfxml",
      expectedText,
      result,
    );
    const actual = readByOxigraph("ntriples", answer);
    return (await sameDataset(actual, expected)) ? passed : wrong(`answered ${answer.slice(0, 600)}`);
  }
  const actual = readResults(answer, accept === mediaTypes.srj ? "srj" : format, file);
  const expected = readResults(expectedText, format, result);
  const lax = facts.value(node, `${mf}resultCardinality`) === `${mf}LaxCardinality`;
  return (await sameResults(actual, expected, { lax }))
    ? passed
    : wrong(`answered ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`.slice(0, 1_500));
}

/** The vocabulary of results is written in RDF, too; what does not use it is the graph of a CONSTRUCT. */
function isGraph(format: string, text: string): boolean {
  return format === "nt" || ((format === "ttl" || format === "rdf") && !text.includes("result-set#"));
}

/** FROM and FROM NAMED of a query that comes without data name files, too. */
function filesOf(facts: Facts, action: TermText, text: string, file: string): readonly GraphFile[] {
  const given = graphFiles(facts, action, qt);
  if (given.length > 0) return given;
  return [...text.matchAll(/FROM\s+(?:NAMED\s+)?<([^>]*)>/gi)].map(([, name]) => {
    const whole = new URL(name as string, file).href;
    return { file: whole, graph: whole };
  });
}

async function updateTest(facts: Facts, node: TermText, action: TermText, endpoint: Endpoint): Promise<Outcome> {
  const file = facts.value(action, `${ut}request`) as string;
  await endpoint.reset(graphFiles(facts, action, ut));
  await endpoint.update(textOf(file), { base: file });
  const expected = graphFiles(facts, facts.one(node, `${mf}result`) as TermText, ut).flatMap(readByReference);
  const actual = await endpoint.dump();
  return (await sameDataset(actual, expected)) ? passed : wrong(`left ${JSON.stringify(actual).slice(0, 600)}`);
}

export function rdfFormatOf(file: string): "turtle" | "trig" | "ntriples" | "nquads" | "rdfxml" {
  const known = { ttl: "turtle", trig: "trig", nt: "ntriples", nq: "nquads", rdf: "rdfxml" } as const;
  return known[file.slice(file.lastIndexOf(".") + 1) as keyof typeof known];
}

function readByReference({ file, graph }: GraphFile): readonly Quad[] {
  const quads = readByOxigraph(rdfFormatOf(file), textOf(file), file);
  return graph === undefined
    ? quads
    : quads.map((quad) => ({ ...quad, g: quad.g === defaultGraph ? iri(graph) : quad.g }));
}
