/**
 * Runs the changes of one session in one process sequentially. Changes of several processes conflict in the store, where one wins and the
 * others retry; that is correct but slow, so a process avoids it for its own changes.
 */
const lines = new WeakMap<object, Map<string, Promise<unknown>>>();

export async function inTurn<Result>(store: object, sessionId: string, run: () => Promise<Result>): Promise<Result> {
  const line = lines.get(store) ?? new Map<string, Promise<unknown>>();
  lines.set(store, line);
  const before = line.get(sessionId) ?? Promise.resolve();
  // The outcome of the previous one is reported to its own caller.
  const mine = before.then(run, run);
  line.set(sessionId, mine);
  try {
    return await mine;
  } finally {
    if (line.get(sessionId) === mine) line.delete(sessionId);
  }
}
