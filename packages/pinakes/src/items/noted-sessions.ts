/**
 * Collects the session tokens of all writes under a call, whichever feature made them: a request returns them to its client, so that the
 * client's next list shows its own writes also on engines whose indexes may be late.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface NotedSession {
  readonly container: string;
  readonly token: string;
}

/** The newest per container; an earlier write is in the index by then, or soon. */
const perContainerMax = 8;
const noted = new AsyncLocalStorage<NotedSession[]>();

export async function withSessions<T>(
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly sessions: readonly NotedSession[] }> {
  const sessions: NotedSession[] = [];
  const result = await noted.run(sessions, run);
  const counts = new Map<string, number>();
  const newest = sessions.toReversed().filter(({ container }) => {
    const count = (counts.get(container) ?? 0) + 1;
    counts.set(container, count);
    return count <= perContainerMax;
  });
  return { result, sessions: newest.toReversed() };
}

/** `token` is called only if a caller collects them: it may be costly. */
export function noteSession(container: string, token: () => string): void {
  noted.getStore()?.push({ container, token: token() });
}
