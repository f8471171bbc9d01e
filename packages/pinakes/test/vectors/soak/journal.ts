/**
 * The journal of a lane: a line before a delta is sent, a line after its acknowledgement, each on disk before the writer continues. A line
 * truncated by a kill has no full stop, and counts as not written.
 */
import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface LaneJournal {
  readonly lane: number;
  readonly sent: ReadonlySet<number>;
  /** The seq of each acknowledged delta. */
  readonly acked: ReadonlyMap<number, number>;
}

export class Journal {
  readonly #file: number;

  constructor(dir: string, lane: number) {
    this.#file = openSync(join(dir, `lane-${lane}.journal`), "a");
    this.#write("\n"); // Ends a truncated line.
  }

  sending(n: number): void {
    this.#write(`sent ${n} .\n`);
  }

  acknowledged(n: number, seq: number): void {
    this.#write(`acked ${n} ${seq} .\n`);
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(text: string): void {
    writeSync(this.#file, text);
    fdatasyncSync(this.#file);
  }
}

export function readJournal(dir: string, lane: number): LaneJournal {
  const path = join(dir, `lane-${lane}.journal`);
  const sent = new Set<number>();
  const acked = new Map<number, number>();
  for (const line of existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []) {
    const [, word, n, seq] = /^(sent|acked) (\d+)(?: (\d+))? \.$/.exec(line) ?? [];
    if (word === "sent") sent.add(Number(n));
    if (word === "acked") acked.set(Number(n), Number(seq));
  }
  return { lane, sent, acked };
}

export function readJournals(dir: string): LaneJournal[] {
  return readdirSync(dir).flatMap((name) => {
    const [, lane] = /^lane-(\d+)\.journal$/.exec(name) ?? [];
    return lane === undefined ? [] : [readJournal(dir, Number(lane))];
  });
}

/** The last acknowledged delta of each lane. */
export function lastAcked(dir: string): Map<number, number> {
  return new Map(
    readJournals(dir).flatMap(({ lane, acked }) =>
      acked.size === 0 ? [] : [[lane, Math.max(...acked.keys())] as const],
    ),
  );
}
