/** Groups as text: one per line, or comma-separated. */
export function groupsOf(text: string): readonly string[] {
  const names = text
    .split(/[\n,]/)
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return [...new Set(names)];
}
