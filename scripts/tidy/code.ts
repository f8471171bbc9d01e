/** Reading TypeScript without a parser: good enough to find imports and calls, and simple enough to trust. */

/** Tests, and the helpers beside them (`drivers/postgres/test-databases.ts`). */
export function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || /\/test-[^/]+\.ts$/.test(path) || /^(?:packages|apps)\/[^/]+\/test\//.test(path);
}

export function lineOf(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** The same text with comments blanked out; line numbers stay. A quote that is not closed on its line (a regular expression) is ignored. */
export function withoutComments(text: string): string {
  const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replaceAll(tokens, (token) =>
    token.startsWith("/*") || token.startsWith("//") ? token.replaceAll(/[^\n]/g, " ") : token,
  );
}

/** The same with the contents of strings blanked out as well, so that only code remains. */
export function codeOnly(text: string): string {
  return withoutComments(text).replaceAll(
    /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`/g,
    (token) => {
      const quote = token[0] as string;
      return quote + token.slice(1, -1).replaceAll(/[^\n]/g, " ") + quote;
    },
  );
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
}

export function importsOf(text: string): Import[] {
  const code = withoutComments(text);
  const imported = String.raw`import\s*(?:[\w$*{},\s]+?\s*from\s*)?`;
  const exported = String.raw`export\s*(?:type\s*)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\})\s*from\s*`;
  const statement = new RegExp(
    String.raw`(?:^|[\n;])\s*(?:${imported}|${exported})["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)`,
    "g",
  );
  return [...code.matchAll(statement)].map((match) => {
    const specifier = (match[1] ?? match[2]) as string;
    return { specifier, line: lineOf(code, match.index + match[0].lastIndexOf(specifier)) };
  });
}
