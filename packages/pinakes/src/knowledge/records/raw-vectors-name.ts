/** The vectors of rows that callers embed themselves, beside those of the passages of the same incarnation. */
export function ownVectorsName(incarnation: string): string {
  return `${incarnation}.own`;
}
