/**
 * Collects the quads of a parser until they are taken. It also checks that they are not far larger than the input: a long prefix, base or
 * entity that is used repeatedly would otherwise fill the memory from a small file.
 */
import { invalid, type PinakesError } from "../../domain/errors.ts";
import type { Quad, TermText } from "../../domain/rdf.ts";
import { rdfLimits } from "../limits.ts";

export class QuadSink {
  private quads: Quad[] = [];
  private last: Quad | undefined;
  private allowed: number = rdfLimits.expansionFreeCharsMax;

  /** Called before the characters are passed to the parser. */
  reading(characters: number): void {
    const free = Math.min(this.allowed, rdfLimits.expansionFreeCharsMax);
    this.allowed = Math.min(free + characters * rdfLimits.expansionCharsPerByteMax, rdfLimits.expansionCharsMax);
  }

  add(quad: Quad): void {
    const { last } = this;
    const kept = {
      s: this.keep(quad.s, last?.s),
      p: this.keep(quad.p, last?.p),
      o: this.keep(quad.o, last?.o),
      g: this.keep(quad.g, last?.g),
    };
    this.last = kept;
    if (this.allowed < 0) throw tooLong();
    this.quads.push(kept);
  }

  /** A term equal to that of the previous quad is stored once. */
  private keep(text: TermText, before: TermText | undefined): TermText {
    if (text === before) return before;
    this.allowed -= text.length;
    return text;
  }

  get size(): number {
    return this.quads.length;
  }

  /** Removes the quads after the first `size`. */
  undo(size: number): void {
    this.quads.length = size;
  }

  *take(): Generator<readonly Quad[], void, void> {
    const { quads } = this;
    this.quads = [];
    for (let at = 0; at < quads.length; at += rdfLimits.batchQuadsMax)
      yield quads.slice(at, at + rdfLimits.batchQuadsMax);
  }
}

export function tooLong(): PinakesError {
  return invalid("The triples are many times larger than the input. Use shorter prefixes, bases or entities.");
}
