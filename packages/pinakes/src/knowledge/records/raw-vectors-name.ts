/** The vectors of rows that callers embedded themselves, beside those of the chunks of the same incarnation. */
export function ownVectorsName(incarnation: string): string {
  return `${incarnation}.own`;
}
