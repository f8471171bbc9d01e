/**
 * A line for operators. Features log only what went wrong, so a line without a level is a warning; `error`: somebody must look.
 * `fields` say what it is about (workspace, document, job), never a secret and nothing of a document's content.
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
