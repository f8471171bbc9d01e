/** The RDF formats: names, media types and file extensions, and how to detect the format of a body or a file. */
export type RdfFormat = "turtle" | "trig" | "ntriples" | "nquads" | "jsonld" | "rdfxml" | "json";
/** The JSON of the API is accepted as input only: responses with triples use their own formats. */
export type RdfWriteFormat = Exclude<RdfFormat, "json">;

export interface RdfFormatInfo {
  /** Display name. */
  readonly name: string;
  /** The first is used in responses. */
  readonly mediaTypes: readonly string[];
  /** With a leading dot. */
  readonly extensions: readonly string[];
  /** Whether it supports named graphs. */
  readonly graphs: boolean;
}

export const rdfFormats: Readonly<Record<RdfFormat, RdfFormatInfo>> = {
  turtle: { name: "Turtle", mediaTypes: ["text/turtle", "application/x-turtle"], extensions: [".ttl"], graphs: false },
  trig: { name: "TriG", mediaTypes: ["application/trig", "application/x-trig"], extensions: [".trig"], graphs: true },
  ntriples: { name: "N-Triples", mediaTypes: ["application/n-triples"], extensions: [".nt"], graphs: false },
  nquads: { name: "N-Quads", mediaTypes: ["application/n-quads", "text/x-nquads"], extensions: [".nq"], graphs: true },
  jsonld: { name: "JSON-LD", mediaTypes: ["application/ld+json"], extensions: [".jsonld"], graphs: true },
  rdfxml: {
    name: "RDF/XML",
    mediaTypes: ["application/rdf+xml"],
    extensions: [".rdf", ".owl", ".rdfs"],
    graphs: false,
  },
  json: { name: "JSON", mediaTypes: ["application/json"], extensions: [".json"], graphs: true },
};

/** The format of a `Content-Type`, ignoring its parameters; undefined for other types. */
export function formatOfContentType(contentType: string): RdfFormat | undefined {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return names().find((format) => rdfFormats[format].mediaTypes.includes(type));
}

export function formatOfFileName(fileName: string): RdfFormat | undefined {
  const lower = fileName.toLowerCase();
  return names().find((format) => rdfFormats[format].extensions.some((extension) => lower.endsWith(extension)));
}

function names(): readonly RdfFormat[] {
  return Object.keys(rdfFormats) as RdfFormat[];
}
