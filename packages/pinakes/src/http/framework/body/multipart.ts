/**
 * multipart/form-data, part by part, with at most a chunk or two in memory. The consumer pulls: bytes are read from the connection only
 * while it waits for a part or for the bytes of a file. An unread file is skipped when the next part is requested. If the body is
 * truncated, or the client disconnects, the consumer's read throws.
 */
import { setImmediate as tick } from "node:timers/promises";
import { Dicer } from "@fastify/busboy";
import { PinakesError, invalid } from "../../../domain/errors.ts";
import { bodyChunks } from "./body.ts";
import { boundaryOf, parsePartHeader, type PartHeader } from "./part-header.ts";

export interface FieldPart {
  readonly kind: "field";
  readonly name: string;
  readonly value: string;
}
export interface FilePart {
  readonly kind: "file";
  readonly field: string;
  /** As sent, including folders: validate it before using it as a name. */
  readonly filename: string;
  readonly contentType: string;
  readonly stream: AsyncIterable<Uint8Array>;
}
export type Part = FieldPart | FilePart;

export interface MultipartLimits {
  readonly filesMax: number;
  readonly fieldsMax: number;
  readonly fieldBytesMax: number;
  readonly partHeaderBytesMax: number;
  readonly bodyBytesMax: number;
}

export const multipartLimitsDefault: MultipartLimits = Object.freeze({
  filesMax: 100,
  fieldsMax: 100,
  fieldBytesMax: 65_536,
  partHeaderBytesMax: 8_192,
  bodyBytesMax: 1_073_741_824,
});

/** Never reached by buffers: the parser is fed on demand, so its own backpressure does not interfere. */
const unboundedBytes = 2 ** 31;

/** The parser silently truncates longer values; this margin makes the excess visible here. */
const headerSlackBytes = 64;

/** A part in the parser. */
class PartState {
  header: PartHeader | undefined;
  headerError: Error | undefined;
  readonly chunks: Uint8Array[] = [];
  ended = false;
  /** Its bytes are no longer needed. */
  skipped = false;
}

class Parser {
  readonly #chunks: AsyncGenerator<Uint8Array, void>;
  readonly #dicer: InstanceType<typeof Dicer>;
  readonly #waiting: PartState[] = [];
  #pumping: Promise<void> | undefined;
  #failure: Error | undefined;
  #finished = false;

  constructor(request: Request, limits: MultipartLimits) {
    const boundary = boundaryOf(request.headers);
    this.#chunks = bodyChunks(request, limits.bodyBytesMax);
    const config = {
      boundary,
      maxHeaderSize: limits.partHeaderBytesMax + headerSlackBytes,
      highWaterMark: unboundedBytes,
      partHwm: unboundedBytes,
    };
    this.#dicer = new Dicer(config);
    this.#dicer.on("part", (part) => {
      const state = new PartState();
      this.#waiting.push(state);
      part.on("header", (header: object) => {
        try {
          checkHeaderBytes(header as Record<string, string[]>, limits.partHeaderBytesMax);
          state.header = parsePartHeader(header as Record<string, string[]>);
        } catch (error) {
          state.headerError = asError(error);
        }
      });
      part.on("data", (chunk: Uint8Array) => void (state.skipped || state.chunks.push(chunk)));
      part.on("end", () => {
        state.ended = true;
      });
      // The parser reports truncation twice, here and by its own error; the second is used.
      part.on("error", () => {});
    });
    this.#dicer.on("error", (error: Error) => {
      this.#failure ??= invalid("The form ends before its last boundary; send the complete form again.", {
        cause: error,
        retryable: true,
      });
    });
  }

  /** The next part whose header is complete; undefined at the end. */
  async next(): Promise<PartState | undefined> {
    for (;;) {
      const first = this.#waiting[0];
      if (first !== undefined && (first.header !== undefined || first.headerError !== undefined || first.ended))
        return this.#waiting.shift();
      if (!(await this.more())) return undefined;
    }
  }

  /** Passes another chunk to the parser; false at the end. Concurrent callers share one chunk. */
  async more(): Promise<boolean> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#finished) return false;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined;
    });
    await this.#pumping;
    return true;
  }

  async close(): Promise<void> {
    this.#finished = true;
    await this.#chunks.return();
  }

  async #pump(): Promise<void> {
    try {
      const { done, value } = await this.#chunks.next();
      if (done === true) this.#dicer.end();
      // Everything after the last boundary is ignored.
      else if (this.#dicer.writable) this.#dicer.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      // The parser's streams emit their data and their end in later ticks.
      await tick();
      if (done === true) this.#finished = true;
    } catch (error) {
      this.#failure = asError(error);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}

export async function* parts(request: Request, limits: Partial<MultipartLimits> = {}): AsyncGenerator<Part, void> {
  const bounds = { ...multipartLimitsDefault, ...limits };
  const parser = new Parser(request, bounds);
  let files = 0;
  let fields = 0;
  try {
    for (let state = await parser.next(); state !== undefined; state = await parser.next()) {
      if (state.headerError !== undefined) throw state.headerError;
      const { header } = state;
      if (header === undefined)
        throw invalid("A part of the form has no headers; each needs a Content-Disposition with a name.");
      if (header.filename === undefined) {
        fields += 1;
        if (fields > bounds.fieldsMax) throw tooMany("fields", bounds.fieldsMax);
        yield {
          kind: "field",
          name: header.name,
          value: await readField(parser, state, header.name, bounds.fieldBytesMax),
        };
        continue;
      }
      files += 1;
      if (files > bounds.filesMax) throw tooMany("files", bounds.filesMax);
      const { name: field, filename, contentType } = header;
      yield { kind: "file", field, filename, contentType, stream: fileStream(parser, state, filename) };
      state.skipped = true;
      state.chunks.length = 0;
    }
  } finally {
    await parser.close();
  }
}

async function* fileStream(parser: Parser, state: PartState, filename: string): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    if (state.skipped)
      throw new PinakesError(
        "INTERNAL",
        `The file "${filename}" was read after the next part of the form; read each file first.`,
      );
    const chunk = state.chunks.shift();
    if (chunk !== undefined) yield chunk;
    else if (state.ended) return;
    else if (!(await parser.more()))
      throw invalid(`The form ends in the middle of the file "${filename}"; send the complete form again.`, {
        retryable: true,
      });
  }
}

async function readField(parser: Parser, state: PartState, name: string, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of fileStream(parser, state, name)) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The form's field "${name}" is larger than ${bytesMax} bytes; send it as a file.`,
      );
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw invalid(`The form's field "${name}" is not valid UTF-8.`, { cause: error });
  }
}

function checkHeaderBytes(header: Readonly<Record<string, readonly string[]>>, bytesMax: number): void {
  let bytes = 0;
  for (const [name, values] of Object.entries(header))
    for (const value of values) bytes += `${name}: ${value}\r\n`.length;
  if (bytes > bytesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `The headers of a part of the form are larger than ${bytesMax} bytes; shorten its name.`,
    );
}

function tooMany(what: string, max: number): PinakesError {
  return new PinakesError("LIMIT_EXCEEDED", `The form has more than ${max} ${what}; send the rest in another request.`);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
