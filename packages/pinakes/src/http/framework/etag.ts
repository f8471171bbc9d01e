/**
 * Entity tags are quoted and may be weak on the wire; internally they are plain strings. `*` never reaches a store: as If-Match it means
 * "must exist", as If-None-Match "must not exist".
 */
import { invalid } from "../../domain/errors.ts";

export interface Preconditions {
  /** The single etag of If-Match, unquoted. */
  readonly ifMatch: string | undefined;
  /** If-Match: *. */
  readonly mustExist: boolean;
  /** The single etag of If-None-Match, unquoted, or `*`: only if nothing exists yet. */
  readonly ifNoneMatch: string | undefined;
}

const headerCharsMax = 4_096;
const etagPattern = /^(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$|^([\x21\x23-\x2b\x2d-\x7e]+)$/;

export function readPreconditions(headers: Headers, { safe }: { readonly safe: boolean }): Preconditions {
  const match = parseEtags("If-Match", headers.get("if-match"));
  const noneMatch = parseEtags("If-None-Match", headers.get("if-none-match"));
  if (match.length > 1) throw invalid("If-Match: send a single etag, the one read last.");
  if (!safe && noneMatch.length > 1)
    throw invalid('If-None-Match: with a write send a single etag, or * for "only if it does not exist".');
  return {
    ifMatch: match[0] === "*" ? undefined : match[0],
    mustExist: match[0] === "*",
    ifNoneMatch: noneMatch.length === 1 ? noneMatch[0] : undefined,
  };
}

/** Whether the client's copy is current: weak comparison, as caches do. */
export function isUnchanged(header: string | null, etag: string): boolean {
  const known = parseEtags("If-None-Match", header);
  return known.includes("*") || known.includes(etag);
}

export function quoteEtag(etag: string): string {
  return `"${etag}"`;
}

export function parseEtags(name: string, header: string | null): readonly string[] {
  if (header === null || header.trim() === "") return [];
  if (header.length > headerCharsMax)
    throw invalid(`${name}: longer than ${headerCharsMax} characters; send fewer etags.`);
  if (header.trim() === "*") return ["*"];
  return splitOutsideQuotes(header).map((part) => {
    const found = etagPattern.exec(part);
    const etag = found?.[1] ?? found?.[2];
    if (etag === undefined || part === "*")
      throw invalid(`${name}: an etag must be quoted, as it was received: "b7e1". Got ${part}.`);
    return etag;
  });
}

function splitOutsideQuotes(header: string): string[] {
  return [...header.matchAll(/(?:"[^"]*"?|[^",])+/g)].map(([part]) => part.trim()).filter((part) => part !== "");
}
