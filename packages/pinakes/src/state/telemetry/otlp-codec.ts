/** OTLP/HTTP bodies: JSON or protobuf, optionally gzipped; responses use the format of the request. */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Root, Type } from "protobufjs";
import type { z } from "zod";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { otlpDescriptor } from "./otlp-descriptor.ts";

/** Compressed and decompressed size. */
export const otlpBytesMax = 16_777_216;
export const otlpInflatedBytesMax = 67_108_864;

export type Signal = "traces" | "metrics" | "logs";
const requestTypes = { traces: "TracesRequest", metrics: "MetricsRequest", logs: "LogsRequest" } as const;

export interface PartialSuccess {
  readonly rejected: number;
  readonly errorMessage: string;
}

/** Decompressed, with bounded memory. */
async function inflate(payload: Uint8Array, encoding: string | undefined): Promise<Uint8Array> {
  if (payload.length > otlpBytesMax) throw tooLarge(otlpBytesMax);
  if (encoding === undefined || encoding === "" || encoding === "identity") return payload;
  if (encoding !== "gzip")
    throw invalid(`Content-Encoding: ${show(encoding)} is not supported; send gzip or no encoding.`);
  try {
    return await promisify(gunzip)(payload, { maxOutputLength: otlpInflatedBytesMax });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(otlpInflatedBytesMax);
    throw invalid("The body is declared as gzip, but cannot be decompressed.", { cause: error });
  }
}

function tooLarge(bytesMax: number): PinakesError {
  return new PinakesError(
    "LIMIT_EXCEEDED",
    `The export is larger than ${bytesMax} bytes; set a smaller batch size in the exporter.`,
  );
}

export type OtlpRequest = [payload: Uint8Array, contentType: string, contentEncoding?: string];

export async function decodeRequest<Schema extends z.ZodType>(
  signal: Signal,
  schema: Schema,
  [payload, contentType, contentEncoding]: OtlpRequest,
): Promise<z.output<Schema>> {
  const bytes = await inflate(payload, contentEncoding);
  const value =
    contentType === "application/json" ? parseJson(bytes) : await decodeProtobuf(signal, bytes, contentType);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw invalid(
    `The body is not an OTLP export of ${signal}: ${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? ""}.`,
  );
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch (error) {
    throw invalid("The body is not valid JSON in UTF-8.", { cause: error });
  }
}

async function decodeProtobuf(signal: Signal, bytes: Uint8Array, contentType: string): Promise<unknown> {
  if (contentType !== "application/x-protobuf")
    throw invalid(`Content-Type: must be application/json or application/x-protobuf, got ${show(contentType)}.`);
  const type = await typeOf(requestTypes[signal]);
  try {
    return type.toObject(type.decode(bytes), { longs: String });
  } catch (error) {
    throw invalid(`The body is not an OTLP export of ${signal} in protobuf: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** The number of rejected entries, under the field name of its signal. */
const rejectedNames = { traces: "rejectedSpans", metrics: "rejectedDataPoints", logs: "rejectedLogRecords" } as const;

export function answerJson(
  signal: Signal,
  partial: PartialSuccess | undefined,
): { readonly partialSuccess?: Readonly<Record<string, string | number>> & { readonly errorMessage: string } } {
  if (partial === undefined) return {};
  return { partialSuccess: { [rejectedNames[signal]]: partial.rejected, errorMessage: partial.errorMessage } };
}

export async function answerProtobuf(partial: PartialSuccess | undefined): Promise<Uint8Array> {
  const type = await typeOf("Answer");
  return type.encode(type.create(partial === undefined ? {} : { partialSuccess: partial })).finish();
}

let root: Promise<Root> | undefined;

/** Loaded on the first protobuf request. */
async function typeOf(name: string): Promise<Type> {
  root ??= import("protobufjs/light.js").then((library) => library.default.Root.fromJSON(otlpDescriptor));
  return (await root).lookupType(name);
}
