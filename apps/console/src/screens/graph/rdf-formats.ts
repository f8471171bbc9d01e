export const rdfFormats = [
  { type: "text/turtle", label: "Turtle", endings: ["ttl", "turtle"] },
  { type: "application/trig", label: "TriG", endings: ["trig"] },
  { type: "application/n-triples", label: "N-Triples", endings: ["nt"] },
  { type: "application/n-quads", label: "N-Quads", endings: ["nq"] },
  { type: "application/ld+json", label: "JSON-LD", endings: ["jsonld", "json"] },
  { type: "application/rdf+xml", label: "RDF/XML", endings: ["rdf", "xml", "owl"] },
] as const;

export type RdfType = (typeof rdfFormats)[number]["type"];

/** Undefined for an unknown extension. */
export function rdfTypeOf(filename: string): RdfType | undefined {
  const ending = filename.split(".").at(-1)?.toLowerCase() ?? "";
  return rdfFormats.find(({ endings }) => (endings as readonly string[]).includes(ending))?.type;
}

export const rdfEndings = rdfFormats.flatMap(({ endings }) => endings.map((ending) => `.${ending}`)).join(",");
