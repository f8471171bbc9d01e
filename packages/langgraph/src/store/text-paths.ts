/** The texts of a value that are embedded: `$` (all of it), `title`, `author.name`, `chapters[*].content`, `tags[0]`, `tags[-1]`. */

export function textsAt(value: unknown, path: string): string[] {
  if (path === "$") return [JSON.stringify(value)];
  const steps = [...path.matchAll(/[^.[\]]+|\[[^\]]*\]/g)].map(([step]) => step);
  return steps
    .reduce<unknown[]>((found, step) => found.flatMap((one) => next(one, step)), [value])
    .flatMap((found) =>
      found === undefined || found === null
        ? []
        : [typeof found === "object" ? JSON.stringify(found) : String(found as number)],
    );
}

function next(value: unknown, step: string): unknown[] {
  if (step.startsWith("[")) {
    if (!Array.isArray(value)) return [];
    const index = step.slice(1, -1);
    return index === "*" ? value : [value.at(Number(index))];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.hasOwn(value, step) ? [(value as Readonly<Record<string, unknown>>)[step]] : [];
}
