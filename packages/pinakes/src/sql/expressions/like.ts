/**
 * LIKE: % any string, _ any character, [abc] [a-f] [^a-f] one of a set, and ESCAPE. Backtracks to the last % only, so no pattern is slow.
 */
type Part = { readonly kind: "any" } | { readonly kind: "one"; readonly test: (char: string) => boolean };

export type LikeMatcher = (text: string) => boolean;

export function compileLike(pattern: string, escape: string | undefined): LikeMatcher {
  const parts = likeParts(Array.from(pattern), escape);
  return (text) => matches(parts, Array.from(text));
}

/** The prefix of every matching string, for which an index can be searched. */
export function likePrefix(pattern: string, escape: string | undefined): string {
  const chars = Array.from(pattern);
  let prefix = "";
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] as string;
    if (char === escape) i += 1;
    else if (char === "%" || char === "_" || char === "[") return prefix;
    prefix += chars[i] ?? "";
  }
  return prefix;
}

function likeParts(chars: readonly string[], escape: string | undefined): readonly Part[] {
  const parts: Part[] = [];
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] as string;
    if (char === escape && i + 1 < chars.length) {
      i += 1;
      parts.push(literal(chars[i] as string));
    } else if (char === "%") {
      if (parts.at(-1)?.kind !== "any") parts.push({ kind: "any" });
    } else if (char === "_") parts.push({ kind: "one", test: () => true });
    else if (char === "[" && chars.indexOf("]", i + 2) > 0) {
      const end = chars.indexOf("]", i + 2);
      parts.push(set(chars.slice(i + 1, end)));
      i = end;
    } else parts.push(literal(char));
  }
  return parts;
}

function literal(expected: string): Part {
  return { kind: "one", test: (char) => char === expected };
}

function set(chars: readonly string[]): Part {
  const negated = chars[0] === "^" && chars.length > 1;
  const members = negated ? chars.slice(1) : chars;
  const test = (char: string): boolean => {
    const code = char.codePointAt(0) as number;
    for (let i = 0; i < members.length; i += 1) {
      const low = (members[i] as string).codePointAt(0) as number;
      if (members[i + 1] === "-" && i + 2 < members.length) {
        if (code >= low && code <= ((members[i + 2] as string).codePointAt(0) as number)) return true;
        i += 2;
      } else if (code === low) return true;
    }
    return false;
  };
  return { kind: "one", test: negated ? (char) => !test(char) : test };
}

function matches(parts: readonly Part[], text: readonly string[]): boolean {
  let at = 0;
  let part = 0;
  let retryPart = -1;
  let retryAt = 0;
  while (at < text.length) {
    const current = parts[part];
    if (current?.kind === "any") {
      retryPart = part;
      retryAt = at;
      part += 1;
    } else if (current?.kind === "one" && current.test(text[at] as string)) {
      part += 1;
      at += 1;
    } else if (retryPart >= 0) {
      retryAt += 1;
      at = retryAt;
      part = retryPart + 1;
    } else return false;
  }
  while (parts[part]?.kind === "any") part += 1;
  return part === parts.length;
}
