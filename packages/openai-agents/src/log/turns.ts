/**
 * Changes of one session in one process take turns. Those of several processes meet in the store, where one wins and the others try
 * again; that is right but slow, and a process need not do it to itself.
 */
const lines = new WeakMap<object, Map<string, Promise<unknown>>>();

export async function inTurn<Result>(store: object, sessionId: string, run: () => Promise<Result>): Promise<Result> {
  const line = lines.get(store) ?? new Map<string, Promise<unknown>>();
  lines.set(store, line);
  const before = line.get(sessionId) ?? Promise.resolve();
  // Whatever became of the one before: that is its caller's to know.
  const mine = before.then(run, run);
  line.set(sessionId, mine);
  try {
    return await mine;
  } finally {
    if (line.get(sessionId) === mine) line.delete(sessionId);
  }
}
