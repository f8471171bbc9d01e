/** Quads in memory for tests of SPARQL: small pages, and a record of what it was asked. */
import type { Quad } from "../domain/rdf.ts";
import type { QuadPattern } from "../ports/triple-store.ts";
import { keyOf } from "./dataset.ts";
import { createSparql, type Sparql } from "./sparql.ts";
import type { Binding, QuadSink, QuadSource, SparqlOptions } from "./types.ts";

export interface TestQuads extends QuadSource, QuadSink {
  readonly quads: () => readonly Quad[];
  readonly asked: QuadPattern[];
}

export function testQuads(
  initial: readonly Quad[] = [],
  { pageQuads = 7 }: { readonly pageQuads?: number } = {},
): TestQuads {
  const all = new Map(initial.map((quad) => [keyOf(quad.s, quad.p, quad.o, quad.g), quad]));
  const asked: QuadPattern[] = [];
  const matching = (pattern: QuadPattern) =>
    [...all.values()].filter((quad) =>
      (["s", "p", "o", "g"] as const).every((place) => pattern[place] === undefined || pattern[place] === quad[place]),
    );
  return {
    distinct: true,
    asked,
    quads: () => [...all.values()],
    match: async (pattern, { limit, cursor }) => {
      asked.push(pattern);
      const start = Number(cursor ?? 0);
      const end = start + Math.min(limit, pageQuads);
      const found = matching(pattern);
      return { quads: found.slice(start, end), cursor: end < found.length ? String(end) : undefined };
    },
    count: async (pattern, { max }) => Math.min(max, matching(pattern).length),
    graphs: async ({ limit, cursor }) => {
      const names = [...new Set([...all.values()].map(({ g }) => g))].filter((g) => g !== "");
      const start = Number(cursor ?? 0);
      const end = start + Math.min(limit, 2);
      return { graphs: names.slice(start, end), cursor: end < names.length ? String(end) : undefined };
    },
    write: async ({ remove, insert }) => {
      let [removed, inserted] = [0, 0];
      for (const { s, p, o, g } of remove) if (all.delete(keyOf(s, p, o, g))) removed += 1;
      for (const quad of insert) {
        const key = keyOf(quad.s, quad.p, quad.o, quad.g);
        if (!all.has(key)) inserted += 1;
        all.set(key, quad);
      }
      return { inserted, removed };
    },
  };
}

/** One quad a line: `s p o g?`, with `:x` for `<http://x/x>`, `1` for an integer; a dot for the graph without a name is not needed. */
export function quads(text: string): readonly Quad[] {
  return text
    .trim()
    .split("\n")
    .filter((one) => one.trim() !== "")
    .map((one) => {
      const [s, p, o, g] = one.trim().match(/"[^"]*"(?:@\S+|\^\^\S+)?|\S+/g) as string[];
      return { s: term(s), p: term(p), o: term(o), g: g === undefined ? "" : term(g) };
    });
}

export function term(text: string | undefined): string {
  if (text === undefined) throw new Error("a term is missing");
  if (/^[+-]?\d+$/.test(text)) return `"${text}"^^<${xsd}integer>`;
  if (/^[+-]?\d+\.\d+$/.test(text)) return `"${text}"^^<${xsd}decimal>`;
  if (text === "true" || text === "false") return `"${text}"^^<${xsd}boolean>`;
  if (text.startsWith(":")) return `<http://x/${text.slice(1)}>`;
  return text.replace(/\^\^xsd:(\w+)$/, `^^<${xsd}$1>`);
}

const xsd = "http://www.w3.org/2001/XMLSchema#";
const prefixes = `PREFIX : <http://x/> PREFIX xsd: <${xsd}>\n`;
const shared = createSparql();

/** The rows of a SELECT, as they come. */
export async function selectRows(
  source: QuadSource,
  text: string,
  options?: SparqlOptions,
  sparql: Sparql = shared,
): Promise<readonly Binding[]> {
  const result = await sparql.query(source, prefixes + text, options);
  if (result.kind !== "bindings") throw new Error(`${result.kind} is no table`);
  return Array.fromAsync(result.rows);
}

/** … each as `a|b`, short terms as `term` reads them. */
export async function select(source: QuadSource, text: string, options?: SparqlOptions): Promise<readonly string[]> {
  return (await selectRows(source, text, options)).map((row) => row.map(short).join("|"));
}

export function short(text: string | undefined): string {
  if (text === undefined) return "";
  return text
    .replace(/^<http:\/\/x\/(.*)>$/, ":$1")
    .replace(new RegExp(`^"(.*)"\\^\\^<${xsd}(integer|decimal|boolean)>$`), "$1")
    .replace(`<${xsd}`, "xsd:")
    .replace(/(\^\^xsd:\w+)>$/, "$1");
}

/** The value of an expression, "" for an error. */
export async function valueOf(expression: string, options?: SparqlOptions): Promise<string> {
  const [row] = await select(testQuads(), `SELECT (${expression} AS ?value) {}`, options);
  return row ?? "no row";
}

export async function ask(source: QuadSource, text: string, options?: SparqlOptions): Promise<boolean> {
  const result = await shared.query(source, prefixes + text, options);
  if (result.kind !== "boolean") throw new Error(`${result.kind} is no answer`);
  return result.value;
}

export async function graphOf(source: QuadSource, text: string, options?: SparqlOptions): Promise<readonly string[]> {
  const result = await shared.query(source, prefixes + text, options);
  if (result.kind !== "quads") throw new Error(`${result.kind} is no graph`);
  return (await Array.fromAsync(result.quads)).map(line);
}

export function line({ s, p, o, g }: Quad): string {
  return [s, p, o, ...(g === "" ? [] : [g])].map(short).join(" ");
}

export async function update(store: TestQuads, text: string, options?: SparqlOptions) {
  return shared.update(store, store, prefixes + text, options);
}
