/**
 * JSON-LD in expanded form, which needs no context: an array of nodes, one per line. Consecutive quads of the same graph share a `@graph`,
 * those of the same subject a node. A node that would need a key twice is followed by another node with the same `@id`, which JSON-LD
 * treats as the same node.
 */
import { defaultGraph, type Quad, termOf, type TermText } from "../../domain/rdf.ts";
import { rdfNamespace } from "../check-term.ts";
import type { QuadWriter } from "./write-rdf.ts";

const rdfType = `<${rdfNamespace}type>`;
/** The keys of a node are remembered; after this many, a new node starts. */
const nodeKeysMax = 1_000;

export function jsonldWriter(): QuadWriter {
  let last: Quad | undefined;
  let key = "";
  const keys = new Set<string>();
  const endNode = "]}";
  const endGraph = () => (last === undefined ? "" : `${endNode}${last.g === defaultGraph ? "" : "\n]}"}`);
  const beginNode = (quad: Quad) => {
    keys.clear();
    keys.add(key);
    return `{"@id":${idOf(quad.s)},${JSON.stringify(key)}:[${valueOf(quad, key)}`;
  };
  return {
    begin: () => "[\n",
    quad(quad) {
      const { s, g } = quad;
      const before = last;
      const keyBefore = key;
      last = quad;
      key = keyOf(quad);
      if (before === undefined || before.g !== g) {
        const ended = before === undefined ? "" : `${endNode}${before.g === defaultGraph ? "" : "\n]}"},\n`;
        return `${ended}${g === defaultGraph ? "" : `{"@id":${idOf(g)},"@graph":[\n`}${beginNode(quad)}`;
      }
      if (before.s === s && key === keyBefore) return `,${valueOf(quad, key)}`;
      if (before.s !== s || keys.has(key) || keys.size >= nodeKeysMax) return `${endNode},\n${beginNode(quad)}`;
      keys.add(key);
      return `],${JSON.stringify(key)}:[${valueOf(quad, key)}`;
    },
    end: () => `${endGraph()}\n]\n`,
  };
}

/** A literal cannot be a value of `@type`. */
function keyOf({ p, o }: Quad): string {
  return p === rdfType && !o.startsWith('"') ? "@type" : p.slice(1, -1);
}

function idOf(text: TermText): string {
  return JSON.stringify(text.startsWith("<") ? text.slice(1, -1) : text);
}

function valueOf({ o }: Quad, key: string): string {
  if (!o.startsWith('"')) return key === "@type" ? idOf(o) : `{"@id":${idOf(o)}}`;
  const term = termOf(o);
  if (term.type !== "literal") return "";
  if (term.language !== undefined) return JSON.stringify({ "@value": term.value, "@language": term.language });
  return JSON.stringify({ "@value": term.value, ...(term.datatype === undefined ? {} : { "@type": term.datatype }) });
}
