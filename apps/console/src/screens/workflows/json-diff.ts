/** Differences of two JSON values, by path. Pure. */
export interface Difference {
  /** For example `state.findings[2].text`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Limits depth and number for performance and readability. */
const depthMax = 20;

/** Undefined if absent; a subtree on one side only is one difference. */
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
    differencesOf(own(both, name), own(other, name), labelOf(path, name, Array.isArray(after)), depth + 1),
  );
}

function partsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

function own(parts: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(parts, name) ? parts[name] : undefined;
}

function labelOf(path: string, name: string, inList: boolean): string {
  if (inList) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}
