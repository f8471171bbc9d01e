/**
 * Loops over rows that threads share. The leading thread names a kernel and its arguments, and every thread takes the next part of the rows
 * until none is left. A helper joins when it can and leaves when it is asked to; without one the leader does all of it. The result of a row
 * does not depend on the thread, so the outcome is the same with and without help.
 */
import { PinakesError } from "../../domain/errors.ts";
import {
  accountShared,
  kernelsFor,
  type KernelCentroids,
  type KernelRows,
  type Kernels,
  type WasmMemory,
} from "../kernels/kernels.ts";

/** What a helper needs: sent to it as a message. */
export interface HelpOrder {
  readonly memory: WasmMemory;
  readonly board: Int32Array<SharedArrayBuffer>;
}

/** Requests a helper, which may come late or never. */
export type CallForHelp = (order: HelpOrder) => void;

export type RowKernel = "assign" | "assignNear";
const rowKernels: readonly RowKernel[] = ["assign", "assignNear"];
export type RowArguments = readonly [...rows: KernelRows, ...centroids: KernelCentroids, ...rest: number[]];

/** Slots of the board. The round changes when a new loop begins; it is odd while one is running, and negative at the end. */
const places = Object.freeze({ round: 0, next: 1, working: 2, kernel: 3, count: 4, args: 5 });
const boardWords = 32;
const partRows = 512;
/** A part takes milliseconds, and so does the time between two loops: a thread that makes the others wait this long has died. */
const silenceMsMax = 30_000;

export class SharedRows {
  readonly kernels: Kernels;
  readonly #board = new Int32Array(new SharedArrayBuffer(boardWords * 4));

  constructor(memory: WasmMemory, callForHelp: CallForHelp | undefined) {
    this.kernels = kernelsFor(memory);
    callForHelp?.({ memory, board: this.#board });
  }

  /** Runs a kernel over all rows of its arguments. The last argument receives the first row of a part. */
  run(kernel: RowKernel, args: RowArguments): void {
    const board = this.#board;
    board[places.kernel] = rowKernels.indexOf(kernel);
    board[places.count] = args.length;
    board.set(args, places.args);
    Atomics.store(board, places.next, 0);
    Atomics.add(board, places.round, 1);
    Atomics.notify(board, places.round);
    takeParts(board, this.kernels);
    Atomics.add(board, places.round, 1);
    for (
      let working = Atomics.load(board, places.working);
      working > 0;
      working = Atomics.load(board, places.working)
    ) {
      if (Atomics.wait(board, places.working, working, silenceMsMax) === "timed-out")
        throw new PinakesError("UNAVAILABLE", "A thread that helped to build a vector file stopped; try again.");
    }
  }

  /** Releases the helper. */
  close(): void {
    Atomics.store(this.#board, places.round, -1);
    Atomics.notify(this.#board, places.round);
  }
}

/** Blocks the thread until the leader closes, or has been silent for long. */
export function help({ memory, board }: HelpOrder): void {
  accountShared(memory.buffer);
  const kernels = kernelsFor(memory);
  for (;;) {
    const round = Atomics.load(board, places.round);
    if (round < 0) return;
    if (round % 2 === 1) {
      // Set before the round is checked again: a leader that saw no active helper may already have changed the board.
      Atomics.add(board, places.working, 1);
      if (Atomics.load(board, places.round) === round) takeParts(board, kernels);
      Atomics.sub(board, places.working, 1);
      Atomics.notify(board, places.working);
    }
    if (Atomics.wait(board, places.round, round, silenceMsMax) === "timed-out") return;
  }
}

function takeParts(board: Int32Array, kernels: Kernels): void {
  const run: (...args: number[]) => void = kernels[rowKernels[board[places.kernel] as number] as RowKernel];
  const args = [...board.subarray(places.args, places.args + (board[places.count] as number))];
  const [codes = 0, scales = 0, sums = 0, rows = 0, stride = 0, ...rest] = args;
  const out = rest.pop() as number;
  for (let first = take(board); first < rows; first = take(board)) {
    const count = Math.min(partRows, rows - first);
    run(codes + first * stride, scales + first * 4, sums + first * 4, count, stride, ...rest, out + first * 4);
  }
}

function take(board: Int32Array): number {
  return Atomics.add(board, places.next, partRows);
}
