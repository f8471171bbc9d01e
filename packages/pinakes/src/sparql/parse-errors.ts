/** Turns syntax errors of the parser into INVALID errors with the position. */
import { invalid, type PinakesError } from "../domain/errors.ts";

/** As the parser library reports it: `startOffset` is NaN at the end of the text. */
export interface SyntaxProblem {
  readonly message: string;
  readonly token: { readonly image: string; readonly startOffset: number };
}

const expectedShownMax = 20;

export function syntaxError(text: string, problem: SyntaxProblem): PinakesError {
  const { image, startOffset } = problem.token;
  const atEnd = Number.isNaN(startOffset);
  const found = atEnd ? "the end of the text" : JSON.stringify(image.slice(0, 60));
  const expected = expectedTokens(problem.message);
  return invalid(
    `SPARQL: ${place(text, atEnd ? text.trimEnd().length : startOffset)}: unexpected ${found}${expected === "" ? "" : `; expected ${expected}`}.`,
  );
}

/** Errors thrown during parsing have only a message; the position is that of the token they mention. */
export function thrownError(text: string, error: unknown): PinakesError {
  const message = error instanceof Error ? error.message : String(error);
  const lexical = /^unexpected character: ->([\s\S]*?)<- at offset: (\d+)/.exec(message);
  if (lexical !== null)
    return invalid(
      `SPARQL: ${place(text, Number(lexical[2]))}: no SPARQL token starts with ${JSON.stringify(lexical[1])} here.`,
      { cause: error },
    );
  const prefix = /^Unknown prefix: (.*)$/.exec(message);
  if (prefix !== null) {
    const name = `${prefix[1]}:`;
    return invalid(
      `SPARQL: ${place(text, Math.max(0, text.indexOf(name)))}: the prefix "${name}" is not declared; write PREFIX ${name} <…> at the beginning.`,
      { cause: error },
    );
  }
  const variable = /\?([A-Za-z_]\w*)/.exec(message);
  const at =
    variable === null ? -1 : Math.max(text.lastIndexOf(`?${variable[1]}`), text.lastIndexOf(`$${variable[1]}`));
  return invalid(`SPARQL: ${at === -1 ? "line 1, column 1" : place(text, at)}: ${message.slice(0, 500)}`, {
    cause: error,
  });
}

function place(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return `line ${line}, column ${offset - before.lastIndexOf("\n")}`;
}

function expectedTokens(message: string): string {
  const one = /^Expecting --> (.*?) <--/.exec(message) ?? /^Expecting token of type --> (.*?) <--/.exec(message);
  if (one !== null) return one[1] as string;
  const words = new Set(
    [...(message.split("but found")[0] ?? "").matchAll(/\[([^\]]+|\])\]/g)].map(([, word]) => word as string),
  );
  const shown = [...words].slice(0, expectedShownMax).join(" ");
  return words.size === 0 ? "" : `one of ${shown}${words.size > expectedShownMax ? " …" : ""}`;
}
