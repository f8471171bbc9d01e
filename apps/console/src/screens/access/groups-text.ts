/** Groups as people write them: on lines of their own, or with commas between them. */
export function groupsOf(text: string): readonly string[] {
  const names = text
    .split(/[\n,]/)
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return [...new Set(names)];
}
