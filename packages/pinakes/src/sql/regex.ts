/**
 * REGEXMATCH. All states of the expression advance together, one character at a time, so the work is at most the length of the text
 * times the states of the expression, whatever the pattern: `(a+)+$` is as harmless as any other. A backtracking matcher such as
 * JavaScript's own would let one query stop the process.
 */
import { invalid } from "../domain/errors.ts";
import { sqlLimits } from "./limits.ts";
import { isWordChar, parseRegex, type CharTest, type RegexNode } from "./regex-parse.ts";

export type RegexMatcher = (text: string) => boolean | undefined;

type State =
  | { readonly kind: "char"; readonly test: CharTest; next: number }
  | { readonly kind: "assert"; readonly what: "start" | "end" | "word" | "notWord"; next: number }
  | { readonly kind: "split"; next: number; other: number }
  | { readonly kind: "end" };

export function compileRegex(pattern: string, modifiers: string): RegexMatcher {
  if (pattern.length > sqlLimits.regexCharsMax)
    throw invalid(
      `query: REGEXMATCH: the pattern has ${pattern.length} characters; at most ${sqlLimits.regexCharsMax} are allowed.`,
    );
  if (!/^[imsx]*$/.test(modifiers))
    throw invalid(`query: REGEXMATCH: modifiers are i, m, s and x; got ${JSON.stringify(modifiers.slice(0, 20))}.`);
  const multiline = modifiers.includes("m");
  const flags = {
    ignoreCase: modifiers.includes("i"),
    multiline,
    dotAll: modifiers.includes("s"),
    extended: modifiers.includes("x"),
  };
  const states: State[] = [];
  const start = compile(states, parseRegex(pattern, flags), add(states, { kind: "end" }));
  return (text) => (text.length > sqlLimits.regexInputCharsMax ? undefined : run(states, start, text, multiline));
}

function add(states: State[], state: State): number {
  if (states.length >= sqlLimits.regexStatesMax)
    throw invalid(
      `query: REGEXMATCH: the pattern needs more than ${sqlLimits.regexStatesMax} states; write smaller repetitions.`,
    );
  states.push(state);
  return states.length - 1;
}

/** Adds the states of a node that go on at `next`, and gives the first of them. */
function compile(states: State[], node: RegexNode, next: number): number {
  switch (node.kind) {
    case "char":
      return add(states, { kind: "char", test: node.test, next });
    case "assert":
      return add(states, { kind: "assert", what: node.what, next });
    case "sequence":
      return node.parts.reduceRight((after, part) => compile(states, part, after), next);
    case "choice":
      return node.parts
        .map((part) => compile(states, part, next))
        .reduceRight((other, first) => add(states, { kind: "split", next: first, other }));
    case "repeat":
      return repeat(states, node, next);
  }
}

function repeat(states: State[], { part, min, max }: Extract<RegexNode, { kind: "repeat" }>, next: number): number {
  let entry = next;
  if (max === Infinity) {
    const loop: State = { kind: "split", next, other: next };
    entry = add(states, loop);
    loop.next = compile(states, part, entry);
  } else {
    for (let i = min; i < max; i += 1)
      entry = add(states, { kind: "split", next: compile(states, part, entry), other: next });
  }
  for (let i = 0; i < min; i += 1) {
    const first = compile(states, part, entry);
    // A part without states, such as "()", is the same however often.
    if (first === entry) break;
    entry = first;
  }
  return entry;
}

function run(states: readonly State[], start: number, text: string, multiline: boolean): boolean {
  const codes = Array.from(text, (char) => char.codePointAt(0) as number);
  let current: number[] = [];
  // By the number of the step that added a state last: each is added once a step.
  const added = new Int32Array(states.length).fill(-1);
  for (let at = 0; at <= codes.length; at += 1) {
    const now: number[] = [];
    // A match may begin at every character.
    for (const from of [...current, start]) if (follow(states, from, now, added, codes, at, multiline)) return true;
    current = [];
    if (at === codes.length) break;
    for (const place of now) {
      const state = states[place] as State;
      if (state.kind === "char" && state.test(codes[at] as number)) current.push(state.next);
    }
  }
  return false;
}

/** Adds what can be reached without a character; true when that is the end. Without recursion: an expression may have many states. */
function follow(
  states: readonly State[],
  from: number,
  into: number[],
  added: Int32Array,
  codes: readonly number[],
  at: number,
  multiline: boolean,
): boolean {
  const open = [from];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (added[place] === at) continue;
    added[place] = at;
    const state = states[place] as State;
    if (state.kind === "end") return true;
    if (state.kind === "char") into.push(place);
    else if (state.kind === "split") open.push(state.other, state.next);
    else if (holds(state.what, codes, at, multiline)) open.push(state.next);
  }
  return false;
}

function holds(
  what: "start" | "end" | "word" | "notWord",
  codes: readonly number[],
  at: number,
  multiline: boolean,
): boolean {
  if (what === "start") return at === 0 || (multiline && codes[at - 1] === 10);
  if (what === "end") return at === codes.length || (multiline && codes[at] === 10);
  const before = at > 0 && isWordChar(codes[at - 1] as number);
  const after = at < codes.length && isWordChar(codes[at] as number);
  return (before !== after) === (what === "word");
}
