/**
 * A regular expression as a program: the states of a non-deterministic finite automaton (Thompson's construction). Each dialect parses its
 * own syntax to nodes; there are none for back references and look-around, because they cannot be matched in linear time.
 *
 * A character is what the dialect matches on: a code point, or a one-character string.
 */
import type { PinakesError } from "../../domain/errors.ts";

export type CharTest<Char> = (char: Char) => boolean;
/** At a position: the characters before and after it, undefined at either end of the text. */
export type PlaceTest<Char> = (before: Char | undefined, after: Char | undefined) => boolean;

export type RegexNode<Char> =
  | { readonly kind: "char"; readonly test: CharTest<Char> }
  | { readonly kind: "assert"; readonly test: PlaceTest<Char> }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly RegexNode<Char>[] }
  | {
      readonly kind: "repeat";
      readonly part: RegexNode<Char>;
      readonly min: number;
      readonly max: number;
      /** Lazy: prefers fewer repetitions; this only affects where a match ends. */
      readonly lazy?: boolean;
    }
  /** `find` reports what it matches. */
  | { readonly kind: "capture"; readonly part: RegexNode<Char>; readonly number: number };

export type Step<Char> =
  | { readonly kind: "char"; readonly test: CharTest<Char>; readonly next: number }
  | { readonly kind: "assert"; readonly test: PlaceTest<Char>; readonly next: number }
  | { readonly kind: "save"; readonly slot: number; readonly next: number }
  /** The first is preferred. */
  | { readonly kind: "split"; readonly first: number; readonly second: number }
  | { readonly kind: "match" };

export interface RegexProgram<Char> {
  readonly steps: readonly Step<Char>[];
  readonly start: number;
}

export interface ProgramLimits {
  readonly statesMax: number;
  readonly tooManyStates: () => PinakesError;
}

export function compileProgram<Char>(node: RegexNode<Char>, limits: ProgramLimits): RegexProgram<Char> {
  const compiler = new Compiler<Char>(limits);
  const start = compiler.compile(node, compiler.add({ kind: "match" }));
  return { steps: compiler.steps, start };
}

class Compiler<Char> {
  readonly steps: Step<Char>[] = [];
  readonly #limits: ProgramLimits;

  constructor(limits: ProgramLimits) {
    this.#limits = limits;
  }

  add(step: Step<Char>): number {
    if (this.steps.length >= this.#limits.statesMax) throw this.#limits.tooManyStates();
    this.steps.push(step);
    return this.steps.length - 1;
  }

  /** Adds the states of a node that continue at `next`, and returns the first of them. */
  compile(node: RegexNode<Char>, next: number): number {
    switch (node.kind) {
      case "char":
        return this.add({ kind: "char", test: node.test, next });
      case "assert":
        return this.add({ kind: "assert", test: node.test, next });
      case "sequence":
        return node.parts.reduceRight((after, part) => this.compile(part, after), next);
      case "choice":
        return node.parts
          .map((part) => this.compile(part, next))
          .reduceRight((second, first) => this.add({ kind: "split", first, second }));
      case "capture": {
        const end = this.add({ kind: "save", slot: node.number * 2 + 1, next });
        return this.add({ kind: "save", slot: node.number * 2, next: this.compile(node.part, end) });
      }
      case "repeat":
        return this.#repeat(node, next);
    }
  }

  #repeat({ part, min, max, lazy }: Extract<RegexNode<Char>, { kind: "repeat" }>, next: number): number {
    const split = (into: number, past: number): Step<Char> =>
      lazy === true ? { kind: "split", first: past, second: into } : { kind: "split", first: into, second: past };
    let entry = next;
    if (max === Infinity) {
      entry = this.add(split(next, next));
      this.steps[entry] = split(this.compile(part, entry), next);
    } else for (let i = min; i < max; i += 1) entry = this.add(split(this.compile(part, entry), next));
    for (let i = 0; i < min; i += 1) {
      const first = this.compile(part, entry);
      // A part without states, such as "(?:)", is the same however often it repeats.
      if (first === entry) break;
      entry = first;
    }
    return entry;
  }
}
