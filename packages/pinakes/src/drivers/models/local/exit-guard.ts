/**
 * onnxruntime aborts the whole process if a thread is terminated inside its native code, as process.exit() does. So a thread marks when it
 * is inside, and the exit of the process waits until it is out, which takes milliseconds.
 *
 * Invariant: once `stop` succeeded the thread never enters again; both sides change the state by compare-and-exchange only.
 */
const outside = 0;
const inside = 1;
const stopped = 2;

/** A thread that is still inside after this long is terminated anyway. */
const waitMsMax = 10_000;

export type GuardState = Int32Array<SharedArrayBuffer>;

export function guardState(): GuardState {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** For the thread: runs native code, or ends the thread (not the process) if the process is about to exit. */
export async function insideGuard<T>(state: GuardState, run: () => Promise<T>): Promise<T> {
  if (Atomics.compareExchange(state, 0, outside, inside) !== outside) process.exit();
  try {
    return await run();
  } finally {
    Atomics.compareExchange(state, 0, inside, outside);
    Atomics.notify(state, 0);
  }
}

const guarded = new Set<GuardState>();

/** For the owner of the thread. */
export function guardExit(state: GuardState): void {
  if (guarded.size === 0) process.on("exit", stopAll);
  guarded.add(state);
}

export function forgetGuard(state: GuardState): void {
  if (guarded.delete(state) && guarded.size === 0) process.removeListener("exit", stopAll);
}

function stopAll(): void {
  const deadline = performance.now() + waitMsMax;
  for (const state of guarded) stop(state, deadline);
}

function stop(state: GuardState, deadline: number): void {
  while (Atomics.compareExchange(state, 0, outside, stopped) === inside) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || Atomics.wait(state, 0, inside, leftMs) === "timed-out") return;
  }
}
