/**
 * The formats of RDF: their names, media types and file extensions, and which of them a request or a file asks for.
 */
export type RdfFormat = "turtle" | "trig" | "ntriples" | "nquads" | "jsonld" | "rdfxml" | "json";
/** The JSON of the API is an input only: answers that hold triples have their own. */
export type RdfWriteFormat = Exclude<RdfFormat, "json">;

export interface RdfFormatInfo {
  /** For people. */
  readonly name: string;
  /** The first is the one that answers carry. */
  readonly mediaTypes: readonly string[];
  /** With the dot. */
  readonly extensions: readonly string[];
  /** Whether it can hold graphs that have names. */
  readonly graphs: boolean;
}

export const rdfFormats: Readonly<Record<RdfFormat, RdfFormatInfo>> = {
  turtle: { name: "Turtle", mediaTypes: ["text/turtle", "application/x-turtle"], extensions: [".ttl"], graphs: false },
  trig: { name: "TriG", mediaTypes: ["application/trig", "application/x-trig"], extensions: [".trig"], graphs: true },
  ntriples: { name: "N-Triples", mediaTypes: ["application/n-triples"], extensions: [".nt"], graphs: false },
  nquads: { name: "N-Quads", mediaTypes: ["application/n-quads", "text/x-nquads"], extensions: [".nq"], graphs: true },
  jsonld: { name: "JSON-LD", mediaTypes: ["application/ld+json"], extensions: [".jsonld"], graphs: true },
  rdfxml: { name: "RDF/XML", mediaTypes: ["application/rdf+xml"], extensions: [".rdf", ".owl", ".rdfs"], graphs: false },
  json: { name: "JSON", mediaTypes: ["application/json"], extensions: [".json"], graphs: true },
};

/** How answers are written where several formats suit: one that people read, and one that holds graphs. */
const writeOrder: readonly RdfWriteFormat[] = ["turtle", "nquads", "trig", "ntriples", "jsonld", "rdfxml"];

/** The format of a `Content-Type`, whatever its parameters; undefined for other types. */
export function formatOfContentType(contentType: string): RdfFormat | undefined {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return names().find((format) => rdfFormats[format].mediaTypes.includes(type));
}

export function formatOfFileName(fileName: string): RdfFormat | undefined {
  const lower = fileName.toLowerCase();
  return names().find((format) => rdfFormats[format].extensions.some((extension) => lower.endsWith(extension)));
}

/**
 * The best format for an `Accept` header: the highest q value, and among equals Turtle first, or N-Quads where graphs with names are to be
 * written. Undefined when the header allows none; no header allows all.
 */
export function negotiateFormat(accept: string | undefined, { graphs = false }: { readonly graphs?: boolean } = {}): RdfWriteFormat | undefined {
  const candidates = writeOrder.filter((format) => !graphs || rdfFormats[format].graphs);
  if (accept === undefined || accept.trim() === "") return candidates[0];
  const ranges = accept.split(",").flatMap(parseRange);
  let best: { readonly format: RdfWriteFormat; readonly q: number } | undefined;
  for (const format of candidates) {
    const [type = "", ...others] = rdfFormats[format].mediaTypes;
    // Older names count where they are named, but "*" means the one that the answer will carry.
    const q = Math.max(qualityOf(type, ranges), ...others.map((other) => ranges.find((range) => range.type === other)?.q ?? 0));
    if (q > (best?.q ?? 0)) best = { format, q };
  }
  return best?.format;
}

interface MediaRange {
  readonly type: string;
  readonly q: number;
}

function parseRange(text: string): readonly MediaRange[] {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return [];
  const q = parameters.find((parameter) => parameter.startsWith("q="));
  const value = q === undefined ? 1 : Number(q.slice(2));
  return [{ type, q: value >= 0 && value <= 1 ? value : 0 }];
}

/** The most exact range that fits decides (RFC 9110, 12.5.1). */
function qualityOf(mediaType: string, ranges: readonly MediaRange[]): number {
  const group = `${mediaType.split("/")[0] as string}/*`;
  for (const wanted of [mediaType, group, "*/*"]) {
    const found = ranges.find((range) => range.type === wanted);
    if (found !== undefined) return found.q;
  }
  return 0;
}

function names(): readonly RdfFormat[] {
  return Object.keys(rdfFormats) as RdfFormat[];
}
