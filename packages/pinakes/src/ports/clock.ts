/** The source of time. Tests move it by hand; nothing else in the product reads the machine's clock for decisions. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

export const systemClock: Clock = Object.freeze({ now: () => Date.now() });
