/** Parses the headers of a part: Content-Disposition with name, filename and filename*, decoded as UTF-8 and otherwise unchanged. */
import { invalid } from "../../../domain/errors.ts";

export interface PartHeader {
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string;
}

/** `latin1`: the parser passes bytes on as characters. */
export function parsePartHeader(header: Readonly<Record<string, readonly string[]>>): PartHeader {
  const disposition = header["content-disposition"]?.[0];
  if (disposition === undefined || !/^\s*form-data\s*(?:;|$)/i.test(disposition)) {
    throw invalid('A part of the form has no "Content-Disposition: form-data; name=…"; each part needs one.');
  }
  const parameters = parseParameters(disposition);
  const name = parameters.get("name");
  if (name === undefined || name === "") throw invalid("A part of the form has no name.");
  const extended = parameters.get("filename*");
  const filename = parameters.get("filename");
  return {
    name: utf8(name, "name"),
    filename:
      extended === undefined
        ? filename === undefined
          ? undefined
          : utf8(filename, "filename")
        : decodeExtended(extended),
    contentType:
      header["content-type"]?.[0]?.trim().toLowerCase() ||
      (filename === undefined && extended === undefined ? "text/plain" : "application/octet-stream"),
  };
}

export function boundaryOf(headers: Headers): string {
  const type = headers.get("content-type") ?? "";
  if (!/^\s*multipart\/form-data\s*(?:;|$)/i.test(type)) throw invalid("The body must be multipart/form-data.");
  const boundary = parseParameters(type).get("boundary");
  if (boundary === undefined || !/^[\w'()+,./:=? -]{1,70}$/.test(boundary) || boundary.endsWith(" ")) {
    throw invalid(
      "Content-Type: multipart/form-data needs a boundary of 1–70 characters; let the HTTP client set this header.",
    );
  }
  return boundary;
}

/** `; name="value"; other=token`. Only \" and \\ are escapes: other backslashes are part of a name, as browsers send them. */
function parseParameters(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, token] of header.matchAll(
    /;\s*([\w-]+\*?)\s*=\s*(?:"((?:\\["\\]|[^"\\]|\\(?!["\\]))*)"|([^\s;"]*))/g,
  )) {
    const key = name.toLowerCase();
    const value = quoted === undefined ? (token ?? "") : quoted.replaceAll(/\\(["\\])/g, "$1");
    if (!parameters.has(key)) parameters.set(key, value);
  }
  return parameters;
}

function utf8(latin1: string, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, "latin1"));
  } catch (error) {
    throw invalid(`A ${what} in the form is not valid UTF-8; encode it as UTF-8.`, { cause: error });
  }
}

/** RFC 5987: UTF-8''na%C3%AFve.txt */
function decodeExtended(value: string): string {
  const found = /^utf-8'[^']*'(.*)$/i.exec(value);
  try {
    if (found !== null) return decodeURIComponent(found[1] as string);
  } catch {
    // Reported below, together with an unknown character set.
  }
  throw invalid(`filename* in the form must be UTF-8''… with percent-encoding, got ${value}.`);
}
