/** The triples found in a document, by chunk. Each triple once per chunk, in the order of the document. */
import { defaultGraph, literal, type Quad, type TermText } from "../../domain/rdf.ts";
import type { Chunk } from "../../domain/chunking.ts";
import { labelQuads } from "./labels.ts";
import { extractionLimits } from "./limits.ts";
import { rdfsLabel } from "./names.ts";

export class Facts {
  readonly warnings: string[] = [];
  readonly #chunks: readonly Chunk[];
  readonly #triplesMax: number;
  readonly #parts = new Map<number, Map<string, Quad>>();
  readonly #distinct = new Set<string>();
  /** Counts a triple once per chunk that states it. */
  #stated = 0;
  #last = 0;

  constructor(chunks: readonly Chunk[], triplesMax: number = extractionLimits.triplesMax) {
    this.#chunks = chunks;
    this.#triplesMax = triplesMax;
  }

  /** Whether the limit has been reached. */
  get full(): boolean {
    return this.#stated >= this.#triplesMax;
  }

  get triples(): number {
    return this.#distinct.size;
  }

  get parts(): ReadonlyMap<number, readonly Quad[]> {
    return new Map([...this.#parts].map(([part, quads]) => [part, [...quads.values()]]));
  }

  /** `at`: offset in the text. */
  add(at: number, s: TermText, p: TermText, o: TermText, g: TermText = defaultGraph): void {
    this.addTo(this.passageAt(at), { s, p, o, g });
  }

  addTo(part: number, quad: Quad): void {
    if (this.full) {
      if (this.warnings.length === 0)
        this.warnings.push(
          `The document states more than ${this.#triplesMax.toLocaleString("en-US")} triples; the graph keeps the first of them. Split the document.`,
        );
      return;
    }
    if (!this.#put(part, quad)) return;
    this.#stated += 1;
    this.#distinct.add(keyOf(quad));
  }

  /** Adds an entity's name, and makes the entity findable by it. */
  label(at: number, entity: TermText, label: string): void {
    this.labelIn(this.passageAt(at), entity, label);
  }

  labelIn(part: number, entity: TermText, label: string): void {
    const name = label.trim();
    if (name === "" || name.length > extractionLimits.labelCharsMax) return;
    this.addTo(part, {
      s: entity,
      p: rdfsLabel,
      o: literal(name.replaceAll("\0", "").toWellFormed()),
      g: defaultGraph,
    });
    this.findable(part, entity, name);
  }

  findable(part: number, entity: TermText, name: string): void {
    if (this.full) return;
    for (const quad of labelQuads(entity, name.toWellFormed())) this.#put(part, quad);
  }

  /** The first chunk that contains the offset; between two chunks, the one before. Mostly called with ascending offsets. */
  passageAt(at: number): number {
    const chunks = this.#chunks;
    let index = (chunks[this.#last]?.start ?? 0) <= at ? this.#last : 0;
    while (index + 1 < chunks.length && (chunks[index] as Chunk).end <= at && (chunks[index + 1] as Chunk).start <= at)
      index += 1;
    // Chunks may overlap: take the first that contains it.
    while (index > 0 && (chunks[index - 1] as Chunk).end > at) index -= 1;
    this.#last = index;
    return index;
  }

  #put(part: number, quad: Quad): boolean {
    const quads = this.#parts.get(part) ?? new Map<string, Quad>();
    this.#parts.set(part, quads);
    const key = keyOf(quad);
    if (quads.has(key)) return false;
    quads.set(key, quad);
    return true;
  }
}

function keyOf({ s, p, o, g }: Quad): string {
  return `${s}\n${p}\n${o}\n${g}`;
}
