/** Times of records: ISO 8601 in UTC with milliseconds, and always later than the one before. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Now, or a millisecond after `previous` where the clock has not moved on. */
export function laterThan(previous: string, nowMs: number): string {
  return isoTime(Math.max(nowMs, Date.parse(previous) + 1));
}
