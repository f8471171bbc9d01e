/**
 * Paths of an indexing policy: `/status/?` is a value, `/metadata/*` a subtree, `/agents/[]/name/?` a value in each element of an
 * array. Cosmos DB accepts a star at the end only; a star in the middle is read as the elements of an array.
 */
import { invalid, show } from "../../domain/errors.ts";
import { parsePath } from "../../domain/path.ts";

export const pathCharsMax = 500;
const arrayStep = "[]";

export interface PolicyPath {
  /** Property names; `[]` for the elements of an array. */
  readonly steps: readonly string[];
  readonly end: "?" | "*";
}

export function parsePolicyPath(text: unknown, where: string): PolicyPath {
  const parts = splitPath(text, where);
  const end = parts.pop();
  if (end?.text !== "?" && end?.text !== "*")
    throw invalid(`${where}: ${show(text)} must end in "/?" (the value) or "/*" (the subtree).`);
  const steps = parts.map((part) => {
    if (part.quoted) return part.text;
    if (part.text === "?")
      throw invalid(`${where}: ${show(text)} has "?" in the middle; it is only allowed at the end.`);
    return part.text === "*" ? arrayStep : part.text;
  });
  if (steps.length === 0 && end.text === "?")
    throw invalid(`${where}: "/?" has no property; write "/*" for everything.`);
  return { steps, end: end.text };
}

/** For a composite index: a property path without an ending. */
export function parseOrderPath(text: unknown, where: string): readonly string[] {
  const parts = splitPath(text, where);
  const wild = parts.some((part) => !part.quoted && ["?", "*", arrayStep].includes(part.text));
  if (wild)
    throw invalid(`${where}: ${show(text)} must name one property, such as "/created_at", without "?", "*" and "[]".`);
  return parts.map((part) => part.text);
}

export function isInArray({ steps }: PolicyPath): boolean {
  return steps.includes(arrayStep);
}

export function formatPolicyPath({ steps, end }: PolicyPath): string {
  return `/${[...steps.map(formatStep), end].join("/")}`;
}

export function formatOrderPath(steps: readonly string[]): string {
  return `/${steps.map(formatStep).join("/")}`;
}

/** A path in the syntax of the item store's indexes and queries: `a.b`, or a JSON pointer if a name contains a dot or a slash. */
export function storePath(steps: readonly string[]): string {
  if (steps.every((step) => /^[^./~]+$/.test(step))) return steps.join(".");
  return `/${steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}

/** Normalized: `/a/b` and `a.b` are the same path. */
export function canonicalPath(path: string): string {
  return storePath(parsePath(path));
}

/** In Cosmos DB's syntax. */
export function pointerPath(path: string): string {
  return `/${parsePath(path)
    .map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1"))
    .join("/")}`;
}

function formatStep(step: string): string {
  return step === arrayStep || /^[A-Za-z_][A-Za-z0-9_-]*$/.test(step) ? step : JSON.stringify(step);
}

interface Part {
  readonly text: string;
  readonly quoted: boolean;
}

const part = /"((?:[^"\\]|\\.)*)"|([^/"]+)/y;

function splitPath(text: unknown, where: string): Part[] {
  if (typeof text !== "string" || !text.startsWith("/"))
    throw invalid(`${where}: a path must be a string that starts with "/", such as "/status/?"; got ${show(text)}.`);
  if (text.length > pathCharsMax)
    throw invalid(`${where}: the path has ${text.length} characters; at most ${pathCharsMax} are allowed.`);
  const parts: Part[] = [];
  let at = 0;
  while (at < text.length) {
    part.lastIndex = at + 1;
    const found = part.exec(text);
    if (found === null)
      throw invalid(`${where}: ${show(text)} has an empty or unfinished name after character ${at + 1}.`);
    const quoted = found[1] !== undefined;
    parts.push({ text: quoted ? unquote(found[0], where) : (found[2] as string), quoted });
    at = part.lastIndex;
    if (at < text.length && text[at] !== "/")
      throw invalid(`${where}: ${show(text)} needs a "/" after character ${at}.`);
  }
  return parts;
}

function unquote(text: string, where: string): string {
  try {
    return JSON.parse(text) as string;
  } catch (error) {
    throw invalid(`${where}: ${text} is not a quoted name.`, { cause: error });
  }
}
