/** Where two JSON values differ, as a list of places. Pure. */
export interface Difference {
  /** As in `state.findings[2].text`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Deep and wide values stay quick to compare and possible to read. */
const depthMax = 20;

/** Absent is undefined; a place that only one side has is told as a whole. */
export function differencesOf(before: unknown, after: unknown, path = "", depth = 0): readonly Difference[] {
  if (Object.is(before, after)) return [];
  const both = partsOf(before);
  const other = partsOf(after);
  if (
    both === undefined ||
    other === undefined ||
    Array.isArray(before) !== Array.isArray(after) ||
    depth >= depthMax
  ) {
    return depth >= depthMax && JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
  }
  const names = new Set([...Object.keys(both), ...Object.keys(other)]);
  return [...names].flatMap((name) =>
    differencesOf(own(both, name), own(other, name), placeOf(path, name, Array.isArray(after)), depth + 1),
  );
}

function partsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

function own(parts: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(parts, name) ? parts[name] : undefined;
}

function placeOf(path: string, name: string, inList: boolean): string {
  if (inList) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}
