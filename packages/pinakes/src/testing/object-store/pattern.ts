/** Pseudorandom bytes that depend on size and seed alone. Apart from the fixture, so that a child process need not load vitest. */
export function pattern(bytes: number, seed = 1): Uint8Array {
  const result = new Uint8Array(bytes);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < bytes; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    result[i] = state >>> 24;
  }
  return result;
}
