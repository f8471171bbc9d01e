/** Triples of CONSTRUCT and DESCRIBE: the server writes them as N-Quads, one statement a line. */
import type { Term, Triple } from "../contract/graph.ts";

const termPattern = /<([^>]*)>|_:([^\s<"]+)|"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?/gy;

export function readNQuads(text: string): readonly Triple[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map(readLine);
}

function readLine(line: string): Triple {
  const terms: Term[] = [];
  termPattern.lastIndex = 0;
  for (let match = termPattern.exec(line); match !== null; match = termPattern.exec(line)) {
    terms.push(termOf(match));
    while (line[termPattern.lastIndex] === " " || line[termPattern.lastIndex] === "\t") termPattern.lastIndex += 1;
  }
  const [s, p, o, g] = terms;
  if (s === undefined || p === undefined || o === undefined)
    throw new Error(`The server sent a line that is not an N-Quads statement: ${line.slice(0, 200)}`);
  return { s, p, o, g: g ?? null };
}

function termOf([, iri, blank, literal, language, datatype]: RegExpExecArray): Term {
  if (iri !== undefined) return { type: "iri", value: unescaped(iri) };
  if (blank !== undefined) return { type: "blank", value: blank.replace(/\.$/, "") };
  const value = unescaped(literal ?? "");
  if (language !== undefined) return { type: "literal", value, language };
  return datatype === undefined
    ? { type: "literal", value }
    : { type: "literal", value, datatype: unescaped(datatype) };
}

const escapes: Readonly<Record<string, string>> = { t: "\t", b: "\b", n: "\n", r: "\r", f: "\f" };

function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g,
    (_, short?: string, long?: string, one = "") => {
      const code = short ?? long;
      return code === undefined ? (escapes[one] ?? one) : String.fromCodePoint(Number.parseInt(code, 16));
    },
  );
}
