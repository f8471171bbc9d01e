/**
 * A log line for operators. Features log only failures, so a line without a level is a warning; `error` means an operator must act.
 * `fields` identify the subject (workspace, document, job), and never contain secrets or document content.
 */
export type Log = (
  line: string,
  level?: "info" | "warn" | "error",
  fields?: Readonly<Record<string, string | number>>,
) => void;

const reasonCharsMax = 500;

/** Why something failed, in one bounded line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ").slice(0, reasonCharsMax);
}
