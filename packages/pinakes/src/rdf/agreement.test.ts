/**
 * Documents as people write them, with all that a format offers to write less, read here and by Oxigraph.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RdfWriteFormat } from "./formats.ts";
import { canonicalHash, rdfNs, read, readByOxigraph } from "./test-rdf.ts";

interface Node {
  readonly id: string | undefined;
  readonly type: boolean;
  readonly properties: readonly (readonly [string, readonly Value[]])[];
}
type Value =
  | { readonly words: string; readonly kind: "plain" | "en" | "type" | "integer" }
  | { readonly node: Node }
  | { readonly list: readonly Value[] };

const names = ["p", "q", "r"];

const { node } = fc.letrec<{ node: Node; value: Value; leaf: Value }>((tie) => ({
  leaf: fc.record({
    words: fc.constantFrom("x", "ü 😀", "a b", "7", "q&<>"),
    kind: fc.constantFrom("plain", "en", "type", "integer"),
  }),
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    tie("leaf"),
    fc.record({ node: tie("node") }),
    fc.record({ list: fc.array(tie("value"), { maxLength: 3 }) }),
  ),
  node: fc.record({
    id: fc.constantFrom(undefined, "_:x", "_:y", "http://e.org/a", "http://e.org/é"),
    type: fc.boolean(),
    properties: fc.uniqueArray(
      fc.tuple(fc.constantFrom(...names), fc.array(tie("value"), { minLength: 1, maxLength: 2 })),
      {
        minLength: 1,
        maxLength: 3,
        selector: ([name]) => name,
      },
    ),
  }),
}));
const documents = fc.array(node, { minLength: 1, maxLength: 4 });

const writers: Readonly<Partial<Record<RdfWriteFormat, (nodes: readonly Node[]) => string>>> = {
  turtle: (nodes) =>
    `@prefix e: <http://e.org/> .\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n${nodes.map(turtleStatement).join("\n")}`,
  trig: (nodes) =>
    `@base <http://e.org/> .\n@prefix e: <> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n${nodes.map((one, at) => (at % 2 === 0 ? turtleStatement(one) : `<g${at}> { ${turtleStatement(one)} }`)).join("\n")}`,
  jsonld: (nodes) =>
    JSON.stringify(
      {
        "@context": {
          "@vocab": "http://e.org/",
          xsd: "http://www.w3.org/2001/XMLSchema#",
          id: "@id",
          q: { "@id": "http://e.org/q" },
        },
        "@graph": nodes.map(jsonNode),
      },
      null,
      1,
    ),
  rdfxml: (nodes) =>
    `<rdf:RDF xmlns:rdf="${rdfNs}" xmlns:e="http://e.org/">\n${nodes.map(xmlNode).join("\n")}\n</rdf:RDF>`,
};

describe.each(Object.keys(writers) as RdfWriteFormat[])("documents in %s", (format) => {
  it("R-TG-120 are read alike by another implementation", async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(documents, async (nodes) => {
        const text =
          writers[format]?.(format === "rdfxml" ? nodes.map((one) => withoutListsOfWords(one)) : nodes) ?? "";
        const theirs = readByOxigraph(format, text);
        expect(await canonicalHash(await read(format, text)), text).toBe(await canonicalHash(theirs));
        compared += theirs.length;
      }),
      { numRuns: 150 },
    );
    expect(compared).toBeGreaterThan(300);
  });
});

function turtleStatement(one: Node): string {
  const subject = one.id === undefined ? "[]" : turtleId(one.id);
  return `${subject} ${turtleProperties(one)} .`;
}

function turtleProperties({ type, properties }: Node): string {
  return [
    ...(type ? ["a e:T"] : []),
    ...properties.map(([name, values]) => `e:${name} ${values.map(turtleValue).join(", ")}`),
  ].join(" ;\n  ");
}

function turtleValue(value: Value): string {
  if ("list" in value) return `( ${value.list.map(turtleValue).join(" ")} )`;
  // Turtle nests blank nodes only; one with a name is referred to.
  if ("node" in value)
    return value.node.id === undefined ? `[ ${turtleProperties(value.node)} ]` : turtleId(value.node.id);
  const { words, kind } = value;
  const quoted = words === "a b" ? `'''${words}'''` : JSON.stringify(words);
  return { plain: quoted, en: `${quoted}@en`, type: `${quoted}^^e:D`, integer: "7" }[kind];
}

function turtleId(id: string): string {
  return id.startsWith("_:") ? id : `<${id}>`;
}

function jsonNode({ id, type, properties }: Node): unknown {
  const entries = properties.map(([name, values]) => [
    name,
    values.length === 1 ? jsonValue(values[0] as Value) : values.map(jsonValue),
  ]);
  return { ...(id === undefined ? {} : { id }), ...(type ? { "@type": "T" } : {}), ...Object.fromEntries(entries) };
}

function jsonValue(value: Value): unknown {
  if ("list" in value) return { "@list": value.list.map(jsonValue) };
  if ("node" in value) return jsonNode(value.node);
  const { words, kind } = value;
  return {
    plain: words,
    en: { "@value": words, "@language": "en" },
    type: { "@value": words, "@type": "http://e.org/D" },
    integer: 7,
  }[kind];
}

/** RDF/XML has lists of nodes only. */
function withoutListsOfWords(one: Node): Node {
  const value = (given: Value): Value => {
    if ("node" in given) return { node: withoutListsOfWords(given.node) };
    return "list" in given ? { list: given.list.filter((item) => "node" in item).map(value) } : given;
  };
  return { ...one, properties: one.properties.map(([name, values]) => [name, values.map(value)]) };
}

function xmlNode({ id, type, properties }: Node): string {
  const name = type ? "e:T" : "rdf:Description";
  const about = id === undefined ? "" : id.startsWith("_:") ? ` rdf:nodeID="${id.slice(2)}"` : ` rdf:about="${id}"`;
  return `<${name}${about}>\n${properties.flatMap(([property, values]) => values.map((value) => xmlProperty(`e:${property}`, value))).join("\n")}\n</${name}>`;
}

function xmlProperty(name: string, value: Value): string {
  if ("list" in value)
    return `<${name} rdf:parseType="Collection">${value.list.map((item) => ("node" in item ? xmlNode(item.node) : "")).join("\n")}</${name}>`;
  if ("node" in value) return `<${name}>\n${xmlNode(value.node)}\n</${name}>`;
  const { words, kind } = value;
  const escaped = words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const attribute = {
    plain: "",
    en: ' xml:lang="en"',
    type: ' rdf:datatype="http://e.org/D"',
    integer: ' rdf:datatype="http://www.w3.org/2001/XMLSchema#integer"',
  }[kind];
  return `<${name}${attribute}>${escaped}</${name}>`;
}
