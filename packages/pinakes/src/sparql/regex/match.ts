/**
 * Runs a regular expression. All states advance together, one character at a time, so the work is at most the length of the text times the
 * states of the expression, whatever the pattern: `(a+)+$` is as harmless as any other. JavaScript's own matcher goes back and tries
 * again, so one query could stop the process.
 */
import { PinakesError } from "../../domain/errors.ts";
import { sparqlLimits } from "../limits.ts";
import { parseRegex, type CharTest, type RegexNode } from "./parse.ts";

type Step =
  | { readonly kind: "char"; readonly test: CharTest; readonly next: number }
  | { readonly kind: "assert"; readonly what: "start" | "end"; readonly next: number }
  | { readonly kind: "save"; readonly slot: number; readonly next: number }
  /** The first is preferred. */
  | { readonly kind: "split"; first: number; second: number }
  | { readonly kind: "match" };

/** Where a match and its groups begin and end, in characters; -1 for a group that took no part. */
type Places = readonly number[];

export interface Regex {
  readonly groups: number;
  /** Undefined where the text is too long to be looked at. */
  test(text: string): boolean;
  /** The first match that begins at `from` or after. */
  find(chars: readonly string[], from: number): Places | undefined;
}

/** Undefined if the pattern or the flags are none. */
export function compileRegex(pattern: string, flagText: string): Regex | undefined {
  if (!/^[smixq]*$/.test(flagText)) return undefined;
  if (pattern.length > sparqlLimits.regexCharsMax)
    throw tooMuch(
      `has ${pattern.length} characters; at most ${sparqlLimits.regexCharsMax} are allowed (regexCharsMax)`,
    );
  const has = (flag: string) => flagText.includes(flag);
  const flags = { ignoreCase: has("i"), multiline: has("m"), dotAll: has("s"), extended: has("x"), literal: has("q") };
  const parsed = parseRegex(pattern, flags);
  if (parsed === undefined) return undefined;
  const steps: Step[] = [{ kind: "match" }];
  const end = add(steps, { kind: "save", slot: 1, next: 0 });
  const start = add(steps, { kind: "save", slot: 0, next: compile(steps, parsed.node, end) });
  const slots = 2 * (parsed.groups + 1);
  const find = (chars: readonly string[], from: number, quick: boolean) =>
    run({ steps, start, slots, multiline: flags.multiline }, chars, from, quick);
  return {
    groups: parsed.groups,
    test: (text) => find(charsOf(text), 0, true) !== undefined,
    find: (chars, from) => find(chars, from, false),
  };
}

export function charsOf(text: string): readonly string[] {
  if (text.length > sparqlLimits.regexInputCharsMax)
    throw tooMuch(
      `is used on a text of ${text.length} characters; at most ${sparqlLimits.regexInputCharsMax} are looked at (regexInputCharsMax)`,
    );
  return Array.from(text);
}

function tooMuch(what: string): PinakesError {
  return new PinakesError("LIMIT_EXCEEDED", `SPARQL: a regular expression ${what}.`);
}

function add(steps: Step[], step: Step): number {
  if (steps.length >= sparqlLimits.regexStatesMax)
    throw tooMuch(`needs more than ${sparqlLimits.regexStatesMax} states (regexStatesMax); write smaller repetitions`);
  steps.push(step);
  return steps.length - 1;
}

/** Adds the steps of a node that go on at `next`, and gives the first of them. */
function compile(steps: Step[], node: RegexNode, next: number): number {
  switch (node.kind) {
    case "char":
      return add(steps, { kind: "char", test: node.test, next });
    case "assert":
      return add(steps, { kind: "assert", what: node.what, next });
    case "sequence":
      return node.parts.reduceRight((after, part) => compile(steps, part, after), next);
    case "choice":
      return node.parts
        .map((part) => compile(steps, part, next))
        .reduceRight((second, first) => add(steps, { kind: "split", first, second }));
    case "group": {
      if (node.number === undefined) return compile(steps, node.part, next);
      const end = add(steps, { kind: "save", slot: node.number * 2 + 1, next });
      return add(steps, { kind: "save", slot: node.number * 2, next: compile(steps, node.part, end) });
    }
    case "repeat":
      return repeat(steps, node, next);
  }
}

function repeat(steps: Step[], { part, min, max, lazy }: Extract<RegexNode, { kind: "repeat" }>, next: number): number {
  const split = (into: number, past: number): Step =>
    lazy ? { kind: "split", first: past, second: into } : { kind: "split", first: into, second: past };
  let entry = next;
  if (max === Infinity) {
    const loop = add(steps, split(next, next));
    steps[loop] = split(compile(steps, part, loop), next);
    entry = loop;
  } else for (let i = min; i < max; i += 1) entry = add(steps, split(compile(steps, part, entry), next));
  for (let i = 0; i < min; i += 1) {
    const first = compile(steps, part, entry);
    // A part without steps, such as "(?:)", is the same however often.
    if (first === entry) break;
    entry = first;
  }
  return entry;
}

interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
  readonly slots: number;
  readonly multiline: boolean;
}

interface Thread {
  readonly at: number;
  readonly places: Places;
}

/** Threads in the order of preference; `quick` stops at any match. */
function run(program: Program, chars: readonly string[], from: number, quick: boolean): Places | undefined {
  const { steps, start, slots } = program;
  const none: Places = Array.from({ length: slots }, () => -1);
  const added = new Int32Array(steps.length).fill(-1);
  let found: Places | undefined;
  let waiting: Thread[] = [];
  for (let place = from; place <= chars.length; place += 1) {
    const ready: Thread[] = [];
    const follow = (thread: Thread): boolean => advance(program, thread, ready, added, chars, place);
    for (const thread of waiting) if (follow(thread)) break;
    if (found === undefined && (ready.length === 0 || steps[(ready.at(-1) as Thread).at]?.kind !== "match"))
      follow({ at: start, places: none });
    waiting = [];
    for (const { at, places } of ready) {
      const step = steps[at] as Step;
      if (step.kind === "match") {
        found = places;
        if (quick) return found;
        // What comes after is less preferred than this match.
        break;
      }
      if (step.kind === "char" && place < chars.length && step.test(chars[place] as string))
        waiting.push({ at: step.next, places });
    }
    if (found !== undefined && waiting.length === 0) return found;
  }
  return found;
}

/** Adds what can be reached without a character, in order; true when that is a match, after which nothing counts. */
function advance(
  { steps, multiline }: Program,
  thread: Thread,
  ready: Thread[],
  added: Int32Array,
  chars: readonly string[],
  place: number,
): boolean {
  const open = [thread];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    const { at, places } = current;
    if (added[at] === place) continue;
    added[at] = place;
    const step = steps[at] as Step;
    if (step.kind === "split") open.push({ at: step.second, places }, { at: step.first, places });
    else if (step.kind === "save") open.push({ at: step.next, places: places.with(step.slot, place) });
    else if (step.kind === "assert") {
      if (holds(step.what, chars, place, multiline)) open.push({ at: step.next, places });
    } else {
      ready.push(current);
      if (step.kind === "match") return true;
    }
  }
  return false;
}

function holds(what: "start" | "end", chars: readonly string[], place: number, multiline: boolean): boolean {
  if (what === "start") return place === 0 || (multiline && chars[place - 1] === "\n");
  return place === chars.length || (multiline && chars[place] === "\n");
}
