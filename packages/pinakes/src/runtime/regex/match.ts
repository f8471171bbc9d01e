/**
 * Runs a regular expression in linear time. All states advance together, one character at a time, so the work is at most the length of the
 * text times the number of states, whatever the pattern: `(a+)+$` is as harmless as any other (ReDoS). JavaScript's own matcher backtracks,
 * so one query could block the process.
 */
import type { RegexProgram, Step } from "./program.ts";

/** Whether it matches anywhere in the text. */
export function matches<Char>({ steps, start }: RegexProgram<Char>, chars: readonly Char[]): boolean {
  // The position at which each state was last added: a state is added once per position.
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

/**
 * Adds the states reachable without a character (epsilon closure); true if that is a match. Iterative, because an expression may have many
 * states.
 */
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

/** Start and end of each capture, in characters, by number; -1 for a capture that did not take part. */
export type Captures = readonly number[];

interface Thread {
  readonly at: number;
  readonly places: Captures;
}

/** The captures (`slots` offsets) of the first match that begins at `from` or later; of those with the same start, the preferred one. */
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
    // States after a match have lower priority than it, so the last match in the list wins.
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

/** Adds the states reachable without a character, in order of preference; true if that is a match, after which the rest is irrelevant. */
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
