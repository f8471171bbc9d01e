/** Reads the manifests of W3C's test suites. Oxigraph reads them, so that a mistake of our own parsers cannot hide a test. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { termOf, type Quad, type TermText } from "../../../src/domain/rdf.ts";
import { readByOxigraph } from "../../../src/rdf/test-rdf.ts";

/** Beside the clone; not part of the repository. */
export const w3cFolder = fileURLToPath(new URL("../../../../../../shared/data/w3c", import.meta.url));
export const hasW3c = existsSync(w3cFolder);
if (!hasW3c)
  console.info(
    `W3C test suites skipped: ${w3cFolder} is absent. Put the rdf/ and sparql/ folders of w3c/rdf-tests there to run them.`,
  );

const home = "https://w3c.github.io/rdf-tests/";
const rdfNamespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
export const mf = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
export const qt = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#";
export const ut = "http://www.w3.org/2009/sparql/tests/test-update#";
export const rdfsLabel = "http://www.w3.org/2000/01/rdf-schema#label";

/** The text of a file of the suites, by its IRI. */
export function textOf(iri: string): string {
  return readFileSync(pathOf(iri), "utf8");
}

export function bytesAt(iri: string): Uint8Array {
  return readFileSync(pathOf(iri));
}

function pathOf(iri: string): string {
  return `${w3cFolder}/${decodeURI(iri.slice(home.length))}`;
}

/** Triples that are asked for by subject and property. IRIs come and go without their brackets. */
export class Facts {
  readonly #bySubject: ReadonlyMap<TermText, readonly Quad[]>;

  constructor(quads: readonly Quad[]) {
    this.#bySubject = Map.groupBy(quads, ({ s }) => s);
  }

  all(node: TermText, property: string): readonly TermText[] {
    return (this.#bySubject.get(node) ?? []).flatMap(({ p, o }) => (p === `<${property}>` ? [o] : []));
  }

  one(node: TermText, property: string): TermText | undefined {
    return this.all(node, property)[0];
  }

  /** The value of the object: an IRI without its brackets, the words of a literal. */
  value(node: TermText, property: string): string | undefined {
    const found = this.one(node, property);
    return found === undefined ? undefined : termOf(found).value;
  }

  subjects(property: string, object: TermText): readonly TermText[] {
    return [...this.#bySubject].flatMap(([s, quads]) =>
      quads.some(({ p, o }) => p === `<${property}>` && o === object) ? [s] : [],
    );
  }

  list(head: TermText | undefined): readonly TermText[] {
    const items: TermText[] = [];
    for (let at = head; at !== undefined && at !== `<${rdfNamespace}nil>`; at = this.one(at, `${rdfNamespace}rest`))
      items.push(this.one(at, `${rdfNamespace}first`) as TermText);
    return items;
  }
}

export interface W3cTest {
  /** `folder/name`, by which lists of expected failures name it. */
  readonly id: string;
  /** Without their namespace: QueryEvaluationTest. */
  readonly type: string;
  readonly node: TermText;
  readonly facts: Facts;
  /** The IRI that the suite assumes for the file of the test's action. */
  readonly base: (file: string) => string;
}

/** All tests of a manifest and of those that it includes, in their order. Parts that the folder has no copy of are left out. */
export function testsOf(path: string, seen: Set<string> = new Set()): readonly W3cTest[] {
  const iri = `${home}${path}`;
  if (seen.has(iri) || !existsSync(pathOf(iri))) return [];
  seen.add(iri);
  const facts = new Facts(readByOxigraph("turtle", textOf(iri), iri));
  const included = facts
    .list(facts.one(`<${iri}>`, `${mf}include`))
    .flatMap((part) => testsOf(termOf(part).value.slice(home.length), seen));
  const folder = iri.slice(0, iri.lastIndexOf("/") + 1);
  const assumed = facts.value(`<${iri}>`, `${mf}assumedTestBase`) ?? folder;
  const own = facts.list(facts.one(`<${iri}>`, `${mf}entries`)).map((node) => {
    const type = termOf(facts.one(node, `${rdfNamespace}type`) ?? `""`).value;
    return {
      id: `${folder.split("/").at(-2) as string}/${node.slice(node.lastIndexOf("#") + 1, -1)}`,
      type: type.slice(type.lastIndexOf("#") + 1),
      node,
      facts,
      base: (file: string) => `${assumed}${file.slice(folder.length)}`,
    };
  });
  return [...included, ...own];
}

/** What a test of SPARQL begins or ends with: files by the graph that holds them. */
export interface GraphFile {
  readonly file: string;
  /** Undefined: the default graph. */
  readonly graph: string | undefined;
  /** What its relative IRIs are relative to; the file itself when absent. */
  readonly base?: string;
}

export function graphFiles(facts: Facts, node: TermText, vocabulary: typeof qt | typeof ut): readonly GraphFile[] {
  const unnamed = facts.all(node, `${vocabulary}data`).map((file) => ({ file: termOf(file).value, graph: undefined }));
  const named = facts.all(node, `${vocabulary}graphData`).map((entry) => {
    const file = facts.value(entry, `${vocabulary}graph`);
    return file === undefined
      ? { file: termOf(entry).value, graph: termOf(entry).value }
      : { file, graph: facts.value(entry, rdfsLabel) ?? file };
  });
  return [...unnamed, ...named];
}
