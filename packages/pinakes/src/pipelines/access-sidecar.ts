/**
 * The file beside a file that says who may see its document: `report.pdf.access.json` with `allowed_groups`, `allowed_users` and
 * `sensitivity` (RFC 0014). It is never a document itself. While it is wrong, its file is not fetched; when it goes, the access stays.
 */
import { PinakesError, invalid } from "../domain/errors.ts";
import { isJsonObject } from "../domain/json.ts";
import type { SourceFile, SourceReader } from "../ports/source-reader.ts";
import type { AccessInput } from "../knowledge/access/document-access.ts";
import { pipelineLimits } from "./limits.ts";

const suffix = ".access.json";
const fields = ["allowed_groups", "allowed_users", "sensitivity"];

export function isSidecar(uri: string): boolean {
  return uri.endsWith(suffix);
}

export function sidecarOf(uri: string): string {
  return `${uri}${suffix}`;
}

/** The file that a sidecar, or the file itself, is about. */
export function fileOf(uri: string): string {
  return isSidecar(uri) ? uri.slice(0, -suffix.length) : uri;
}

/** A change of the sidecar is a change of the file. */
export function withSidecar(file: SourceFile, sidecar: Pick<SourceFile, "uri" | "etag"> | undefined): SourceFile {
  return sidecar === undefined ? file : { ...file, etag: `${file.etag} ${sidecar.etag}`, sidecar: sidecar.uri };
}

export async function readAccessSidecar(
  reader: Pick<SourceReader, "open">,
  { sidecar }: Pick<SourceFile, "sidecar">,
  signal: AbortSignal,
): Promise<AccessInput> {
  if (sidecar === undefined) return {};
  const { sidecarBytesMax } = pipelineLimits;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reader.open(sidecar, signal)) {
    bytes += chunk.byteLength;
    if (bytes > sidecarBytesMax)
      throw new PinakesError("LIMIT_EXCEEDED", `${sidecar} has more than ${sidecarBytesMax} bytes.`);
    chunks.push(chunk);
  }
  const access = parse(sidecar, Buffer.concat(chunks).toString("utf8"));
  const unknown = Object.keys(access).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw invalid(`${sidecar}: "${unknown}" is not known; known are ${fields.join(", ")}.`);
  return access;
}

function parse(uri: string, text: string): AccessInput & Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`${uri}: is not JSON.`, { cause: error });
  }
  if (!isJsonObject(value)) throw invalid(`${uri}: must be an object such as { "allowed_groups": ["hr"] }.`);
  return value;
}
