/**
 * Triples of an RDF file. It is parsed chunk by chunk, and a triple belongs to the chunk at whose end it was complete; JSON-LD is parsed as
 * a whole, so its triples are matched to chunks by their words. Blank nodes are named after the document, not the run.
 */
import type { Chunk } from "../../domain/chunking.ts";
import type { Quad, TermText } from "../../domain/rdf.ts";
import { termOf } from "../../domain/rdf.ts";
import { readRdf, type RdfFormat } from "../../rdf/index.ts";
import type { Pause } from "../chunking/pause.ts";
import type { Facts } from "./facts.ts";
import { isLabelPredicate, labelsGraph, localName } from "./labels.ts";
import { stableHash } from "./names.ts";

export interface RdfWork {
  readonly text: string;
  readonly chunks: readonly Chunk[];
  readonly format: RdfFormat;
  readonly documentId: string;
  readonly facts: Facts;
  readonly pause: Pause;
}

const needleCharsMax = 40;

export async function extractRdf({ text, chunks, format, documentId, facts, pause }: RdfWork): Promise<void> {
  const named = new Set<TermText>();
  const reading = { part: 0 };
  const byWords = format === "jsonld" ? passageByWords(chunks) : undefined;
  const options = {
    format,
    baseIri: `urn:pinakes:document:${encodeURIComponent(documentId)}`,
    blankPrefix: `d${stableHash(documentId)}`,
  };
  for await (const quads of readRdf(pieces(text, chunks, reading), options)) {
    await pause();
    for (const quad of quads) {
      // Labels are generated here, never read from a file.
      if (facts.full || quad.g === labelsGraph) continue;
      const part = byWords?.(quad) ?? reading.part;
      facts.addTo(part, quad);
      addNames(facts, part, quad, named);
    }
  }
}

function addNames(facts: Facts, part: number, { s, p, o }: Quad, named: Set<TermText>): void {
  if (isLabelPredicate(p)) {
    const label = termOf(o);
    if (label.type === "literal") facts.findable(part, s, label.value);
  }
  for (const term of [s, o]) {
    if (!term.startsWith("<") || named.has(term)) continue;
    named.add(term);
    const name = localName(term);
    if (name !== undefined) facts.findable(part, term, name);
  }
}

/** The text up to the start of the next chunk; sets `reading.part` to the chunk it belongs to. */
async function* pieces(text: string, chunks: readonly Chunk[], reading: { part: number }): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const [i] of chunks.entries()) {
    const to = i + 1 < chunks.length ? Math.max(from, (chunks[i + 1] as Chunk).start) : text.length;
    reading.part = i;
    if (to > from) yield Buffer.from(text.slice(from, to), "utf8");
    from = to;
  }
}

/** The chunk that contains most of a triple's words; the first among equals. */
function passageByWords(chunks: readonly Chunk[]): (quad: Quad) => number {
  return ({ s, o }) => {
    const needles = [s, o].map(needleOf).filter((needle) => needle !== "");
    let best = 0;
    let most = -1;
    for (const { index, text } of chunks) {
      const found = needles.filter((needle) => text.includes(needle)).length;
      if (found > most) [best, most] = [index, found];
      if (most === needles.length) break;
    }
    return best;
  };
}

function needleOf(text: TermText): string {
  const { type, value } = termOf(text);
  if (type === "blank") return "";
  return type === "iri" ? (/[^/#:]+$/.exec(value)?.[0] ?? value) : value.slice(0, needleCharsMax);
}
