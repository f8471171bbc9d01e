/** Prepares a change for engines: each distinct term once, validated once, and quads as term numbers. */
import { invalid, PinakesError, show } from "../domain/errors.ts";
import { defaultGraph, type Quad, type TermText } from "../domain/rdf.ts";
import type { QuadChange, Support } from "../ports/triple-store.ts";
import type { Position } from "./match-order.ts";
import { canonicalTerm, checkPlace, wordsOf } from "./terms.ts";
import type { PreparedChange } from "./triple-engine.ts";
import { tripleLimits } from "./triple-limits.ts";

/** The changes that make up one write, in order: removals first, each within what the engine accepts at once. */
export function prepareChange(
  change: QuadChange,
  atomicQuadsMax: number,
  writeQuadsMax = atomicQuadsMax,
): PreparedChange[] {
  if (typeof change !== "object" || change === null)
    throw invalid("A change is an object with insert, remove or both.");
  const insert = checkQuads("insert", change.insert);
  const remove = checkQuads("remove", change.remove);
  const source = change.source === undefined ? undefined : checkSupport(change.source);
  const quads = insert.length + remove.length;
  if (quads > tripleLimits.writeQuadsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `One write changes at most ${tripleLimits.writeQuadsMax} quads, this one ${quads}; split it into several writes.`,
    );
  if (change.atomic === true && quads > atomicQuadsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `This engine changes at most ${atomicQuadsMax} quads in one transaction, this write ${quads}; omit "atomic" or write fewer.`,
    );
  const whole = new Collector();
  // Everything is validated before anything is written.
  const removals = whole.add(remove);
  const inserts = whole.add(insert);
  if (quads <= writeQuadsMax) return [{ terms: whole.terms, remove: removals, insert: inserts, source }];
  const step = writeQuadsMax * 4;
  return [
    ...pieces(removals, step).map((piece) => narrowed(whole.terms, piece, nothing, source)),
    ...pieces(inserts, step).map((piece) => narrowed(whole.terms, nothing, piece, source)),
  ];
}

const nothing = new Uint32Array(0);

function checkQuads(name: string, quads: readonly Quad[] | undefined): readonly Quad[] {
  if (quads === undefined) return [];
  if (Array.isArray(quads)) return quads as readonly Quad[];
  throw invalid(`${name}: must be an array of quads, got ${show(quads)}.`);
}

function checkSupport(support: Support): Support {
  if (typeof support !== "object" || support === null) throw invalid("A source is an object with source and part.");
  const { part } = support;
  if (!Number.isInteger(part) || part < 0 || part > tripleLimits.partMax)
    throw invalid(`part: must be a whole number from 0 to ${tripleLimits.partMax}, got ${show(part)}.`);
  return { source: checkSource(support.source), part };
}

export function checkSource(source: string): string {
  if (
    typeof source === "string" &&
    source !== "" &&
    !source.includes("\0") &&
    source.isWellFormed() &&
    Buffer.byteLength(source) <= tripleLimits.sourceBytesMax
  )
    return source;
  throw invalid(`source: must be a string of 1 to ${tripleLimits.sourceBytesMax} bytes, got ${show(source)}.`);
}

class Collector {
  readonly terms: TermText[] = [defaultGraph];
  /** Maps terms as passed and in canonical form, both in the notation of callers: a term may be written in two ways. */
  readonly #numbers = new Map<TermText, number>();
  #chars = 0;

  add(quads: readonly Quad[]): Uint32Array {
    const places = new Uint32Array(quads.length * 4);
    let at = 0;
    for (const quad of quads) {
      if (typeof quad !== "object" || quad === null)
        throw invalid(`A quad is an object with s, p, o and g; got ${show(quad)}.`);
      places[at] = this.#place("s", quad.s);
      places[at + 1] = this.#place("p", quad.p);
      places[at + 2] = this.#place("o", quad.o);
      places[at + 3] = quad.g === defaultGraph ? 0 : this.#place("g", quad.g);
      at += 4;
    }
    return places;
  }

  #place(place: Position, given: TermText): number {
    let number = this.#numbers.get(given);
    if (number === undefined) {
      const term = canonicalTerm(given);
      const known = wordsOf(term);
      number = (known === given ? undefined : this.#numbers.get(known)) ?? this.#take(term, known);
      this.#numbers.set(given, number);
    }
    checkPlace(place, given);
    return number;
  }

  #take(term: TermText, known: TermText): number {
    const number = this.terms.length;
    this.terms.push(term);
    this.#numbers.set(known, number);
    this.#chars += term.length;
    if (this.#chars <= tripleLimits.writeCharsMax) return number;
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `The terms of one write have at most ${tripleLimits.writeCharsMax} characters together; split the write.`,
    );
  }
}

function pieces(places: Uint32Array, step: number): Uint32Array[] {
  return Array.from({ length: Math.ceil(places.length / step) }, (_, i) => places.subarray(i * step, (i + 1) * step));
}

/** A part of a change with only the terms that it uses. */
function narrowed(
  terms: readonly TermText[],
  remove: Uint32Array,
  insert: Uint32Array,
  source: Support | undefined,
): PreparedChange {
  const used: TermText[] = [defaultGraph];
  const numbers = new Map([[0, 0]]);
  const renumber = (place: number): number => {
    let number = numbers.get(place);
    if (number === undefined) {
      number = used.length;
      numbers.set(place, number);
      used.push(terms[place] as TermText);
    }
    return number;
  };
  return { terms: used, remove: remove.map(renumber), insert: insert.map(renumber), source };
}
