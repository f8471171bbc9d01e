/** Record times: ISO 8601 in UTC with milliseconds, strictly increasing. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Now, or one millisecond after `previous` if the clock has not advanced. */
export function laterThan(previous: string, nowMs: number): string {
  return isoTime(Math.max(nowMs, Date.parse(previous) + 1));
}
