/** Builds the error for an invalid document, with the line. */
import { invalid, type PinakesError } from "../domain/errors.ts";
import { type RdfFormat, rdfFormats } from "./formats.ts";

/** Lines are counted from 1. An error that already is a PinakesError keeps its own text. */
export function problemAt(format: RdfFormat, line: number, problem: unknown): PinakesError {
  if (located.has(problem as object)) return problem as PinakesError;
  const words = problem instanceof Error ? problem.message : String(problem);
  const error = invalid(`Line ${line} of the ${rdfFormats[format].name} document: ${sentence(words)}`, {
    cause: problem,
  });
  located.add(error);
  return error;
}

const located = new WeakSet<object>();

function sentence(words: string): string {
  const short = words.length > 500 ? `${words.slice(0, 500)}…` : words;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
