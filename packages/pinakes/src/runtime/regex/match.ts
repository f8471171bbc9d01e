/**
 * Runs a regular expression in linear time. All states advance together, one character at a time, so the work is at most the length of the
 * text times the states of the expression, whatever the pattern: `(a+)+$` is as harmless as any other (ReDoS). JavaScript's own matcher
 * backtracks, so that one query could stop the process.
 */
import type { RegexProgram, Step } from "./program.ts";

/** Whether it matches anywhere in the text. */
export function matches<Char>({ steps, start }: RegexProgram<Char>, chars: readonly Char[]): boolean {
  // By the place at which a state was added last: each is added once a place.
  const added = new Int32Array(steps.length).fill(-1);
  let current: number[] = [];
  for (let place = 0; place <= chars.length; place += 1) {
    const ready: number[] = [];
    // A match may begin at every character.
    current.push(start);
    for (const from of current) if (reach(steps, from, ready, added, chars, place)) return true;
    current = [];
    if (place === chars.length) break;
    for (const at of ready) {
      const step = steps[at] as Step<Char>;
      if (step.kind === "char" && step.test(chars[place] as Char)) current.push(step.next);
    }
  }
  return false;
}

/** Adds what can be reached without a character; true when that is a match. Without recursion: an expression may have many states. */
function reach<Char>(
  steps: readonly Step<Char>[],
  from: number,
  ready: number[],
  added: Int32Array,
  chars: readonly Char[],
  place: number,
): boolean {
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (added[at] === place) continue;
    added[at] = place;
    const step = steps[at] as Step<Char>;
    if (step.kind === "match") return true;
    if (step.kind === "char") ready.push(at);
    else if (step.kind === "split") open.push(step.second, step.first);
    else if (step.kind === "save" || step.test(chars[place - 1], chars[place])) open.push(step.next);
  }
  return false;
}

/** Where captures begin and end, in characters, by their number; -1 for one that took no part. */
export type Captures = readonly number[];

interface Thread {
  readonly at: number;
  readonly places: Captures;
}

/** The captures of the first match that begins at `from` or after, of `slots` places; the preferred one of those that begin there. */
export function find<Char>(
  program: RegexProgram<Char>,
  chars: readonly Char[],
  from: number,
  slots: number,
): Captures | undefined {
  const { steps, start } = program;
  const none: Captures = Array.from({ length: slots }, () => -1);
  const added = new Int32Array(steps.length).fill(-1);
  let found: Captures | undefined;
  let waiting: Thread[] = [];
  for (let place = from; place <= chars.length; place += 1) {
    const ready: Thread[] = [];
    let matched = waiting.some((thread) => advance(program, thread, ready, added, chars, place));
    if (found === undefined && !matched)
      matched = advance(program, { at: start, places: none }, ready, added, chars, place);
    // What comes after a match is less preferred than it, so the match is the last of those that are ready.
    if (matched) found = (ready.pop() as Thread).places;
    waiting = ready.flatMap(({ at, places }) => {
      const step = steps[at] as Step<Char>;
      return step.kind === "char" && place < chars.length && step.test(chars[place] as Char)
        ? [{ at: step.next, places }]
        : [];
    });
    if (found !== undefined && waiting.length === 0) return found;
  }
  return found;
}

/** Adds what can be reached without a character, in the order of preference; true when that is a match, after which nothing counts. */
function advance<Char>(
  { steps }: RegexProgram<Char>,
  thread: Thread,
  ready: Thread[],
  added: Int32Array,
  chars: readonly Char[],
  place: number,
): boolean {
  const open = [thread];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    const { at, places } = current;
    if (added[at] === place) continue;
    added[at] = place;
    const step = steps[at] as Step<Char>;
    if (step.kind === "split") open.push({ at: step.second, places }, { at: step.first, places });
    else if (step.kind === "save") open.push({ at: step.next, places: places.with(step.slot, place) });
    else if (step.kind === "assert") {
      if (step.test(chars[place - 1], chars[place])) open.push({ at: step.next, places });
    } else {
      ready.push(current);
      if (step.kind === "match") return true;
    }
  }
  return false;
}
