/** Request bodies: counted while they stream in, so that a large one is rejected before it is in memory. */
import { PinakesError, invalid } from "../../../domain/errors.ts";
import { HttpError } from "../http-error.ts";
import { deeperThan, jsonErrorPlace } from "./json-position.ts";

export const jsonDepthMax = 64;

/** From the header, without parameters; undefined if absent. */
export function contentTypeOf(headers: Headers): string | undefined {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  return type === "" ? undefined : type;
}

export function isJsonType(type: string | undefined): boolean {
  return type === "application/json" || (type?.startsWith("application/") === true && type.endsWith("+json"));
}

export function unsupportedType(got: string | undefined, wanted: readonly string[]): HttpError {
  const detail = got === undefined ? "The body has no Content-Type" : `The body is ${got}`;
  return new HttpError("INVALID", `${detail}; send ${wanted.join(" or ")}.`, {
    status: 415,
    headers: { accept: wanted.join(", ") },
  });
}

/** Rejects a missing or mislabelled body before reading a byte of it. */
export function checkBodyHeaders(headers: Headers, bytesMax: number, { gzip = false } = {}): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "" && encoding !== "identity" && !(gzip && encoding === "gzip")) {
    throw new HttpError("INVALID", `Content-Encoding: ${encoding} is not supported; send the body uncompressed.`, {
      status: 415,
      headers: { "accept-encoding": "identity" },
    });
  }
  const length = Number(headers.get("content-length") ?? 0);
  if (length > bytesMax) throw bodyTooLarge(bytesMax);
}

export function bodyTooLarge(bytesMax: number): PinakesError {
  return new PinakesError(
    "LIMIT_EXCEEDED",
    `The body is larger than ${bytesMax} bytes, the maximum for this route; split the request.`,
  );
}

/** The chunks of a body, up to a limit. If the client disconnects, this fails; it never ends silently. */
export async function* bodyChunks(request: Request, bytesMax: number): AsyncGenerator<Uint8Array, void> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const result = await read(reader);
      if (result.done) return;
      const { value } = result;
      bytes += value.byteLength;
      if (bytes > bytesMax) throw bodyTooLarge(bytesMax);
      yield value;
    }
  } finally {
    // The server drains the rest; an error of the stream itself was already thrown above.
    reader.cancel().catch(() => {});
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<{ done: true } | { done: false; value: Uint8Array }> {
  try {
    const { done, value } = await reader.read();
    return done ? { done } : { done, value };
  } catch (error) {
    throw new PinakesError("INVALID", "The connection closed before the body was complete; send the request again.", {
      cause: error,
      retryable: true,
    });
  }
}

/** The value of a JSON body, and its bytes for a hash; undefined if there is no body. */
export async function readJson(
  request: Request,
  bytesMax: number,
  { anyType = false }: { readonly anyType?: boolean } = {},
): Promise<{ readonly value: unknown; readonly bytes: Uint8Array }> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bodyChunks(request, bytesMax)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes.byteLength === 0) return { value: undefined, bytes };
  const type = contentTypeOf(request.headers);
  if (!anyType && !isJsonType(type)) throw unsupportedType(type, ["application/json"]);
  return { value: parseJson(bytes), bytes };
}

export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (deeperThan(text, jsonDepthMax))
    throw invalid(`The body is nested deeper than ${jsonDepthMax} levels; reduce the nesting.`);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const { line, column } = jsonErrorPlace(text);
    throw invalid(`The body is not valid JSON at line ${line}, column ${column}.`, { cause: error });
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const at = Buffer.byteLength(text.slice(0, text.indexOf("\ufffd")), "utf8");
    throw invalid(`The body is not valid UTF-8 near byte ${at}; encode it as UTF-8.`, { cause: error });
  }
}
