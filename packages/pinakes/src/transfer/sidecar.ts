/** The file beside an object that names its owner: `{key}.metadata.json` (R-KB-37). */
import { PinakesError, invalid, show } from "../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { transferLimits } from "./limits.ts";

export const sidecarSuffix = ".metadata.json";

export interface Sidecar {
  readonly user_id: string;
  readonly catalog_id: string;
  readonly document_id: string;
  readonly filename: string;
}

export const sidecarAttributes = ["user_id", "catalog_id", "document_id", "filename"] as const;

export function writeSidecar(sidecar: Sidecar): string {
  const typed = sidecarAttributes.map(
    (name) => [name, { value: { type: "STRING", stringValue: sidecar[name] } }] as const,
  );
  return `${JSON.stringify({ metadataAttributes: Object.fromEntries(typed) }, null, 2)}\n`;
}

/** Typed values, or plain ones as written by other tools; other attributes are ignored. Absent ones are left out. */
export function readSidecar(text: string): Partial<Sidecar> {
  const value = parse(text);
  const said = isJsonObject(value) ? value["metadataAttributes"] : undefined;
  if (!isJsonObject(said)) throw invalid("A sidecar must be an object with metadataAttributes.");
  return Object.fromEntries(
    sidecarAttributes.flatMap((name) =>
      said[name] === undefined || said[name] === null ? [] : [[name, plain(said[name], name)]],
    ),
  );
}

/** Names what the sidecar says differently from what is expected, if anything. */
export function sidecarProblem(said: Partial<Sidecar>, expected: Partial<Sidecar>): string | undefined {
  const wrong = sidecarAttributes.find(
    (name) => said[name] !== undefined && expected[name] !== undefined && said[name] !== expected[name],
  );
  return wrong === undefined
    ? undefined
    : `the sidecar has ${wrong} ${show(said[wrong])}, the item ${show(expected[wrong])}`;
}

export async function readSidecarBody(body: AsyncIterable<Uint8Array>): Promise<Partial<Sidecar>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > transferLimits.sidecarBytesMax)
      throw new PinakesError("LIMIT_EXCEEDED", `A sidecar may have at most ${transferLimits.sidecarBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return readSidecar(Buffer.concat(chunks).toString("utf8"));
}

function plain(value: JsonValue, name: string): string {
  if (typeof value === "string") return value;
  const inner: JsonObject = isJsonObject(value) && isJsonObject(value["value"]) ? value["value"] : {};
  const text = inner["stringValue"];
  if (typeof text !== "string" || (inner["type"] ?? "STRING") !== "STRING")
    throw invalid(
      `metadataAttributes.${name}: ${show(value)} is not a string or { "value": { "type": "STRING", "stringValue": "…" } }.`,
    );
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid("The sidecar is not JSON.", { cause: error });
  }
}
