/** Reads the fields of requests; errors name the field. */
import { invalid, show } from "../../../domain/errors.ts";
import type { Request } from "./call.ts";

export function text(request: Request, name: string): string {
  const value = request[name];
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`${name}: must be a string, got ${show(value)}.`);
}

/** Absent, null and "" mean the default: clients send their complete record. */
export function optionalText(request: Request, name: string, otherwise: string): string {
  const value = request[name];
  if (value === undefined || value === null || value === "") return otherwise;
  if (typeof value === "string") return value;
  throw invalid(`${name}: must be a string, got ${show(value)}.`);
}

export function texts(request: Request, name: string): readonly string[] | undefined {
  const value = request[name];
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw invalid(`${name}: must be a list of strings.`);
}

export function integer(
  request: Request,
  name: string,
  { min, max, otherwise }: { readonly min: number; readonly max: number; readonly otherwise?: number },
): number {
  const value = request[name] ?? otherwise;
  // Some programs send numbers as strings, which TrustGraph's gateway accepts.
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
  throw invalid(`${name}: must be a whole number from ${min} to ${max}, got ${show(value)}.`);
}

export function record(request: Request, name: string): Request {
  const value = request[name];
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Request;
  throw invalid(`${name}: must be an object, got ${show(value)}.`);
}

export function records(request: Request, name: string): readonly Request[] {
  const value = request[name] ?? [];
  if (Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null && !Array.isArray(one)))
    return value as Request[];
  throw invalid(`${name}: must be a list of objects.`);
}

export function base64(value: unknown, name: string): Buffer<ArrayBuffer> {
  const bytes = typeof value === "string" ? decodeBase64(value) : undefined;
  if (bytes !== undefined) return bytes;
  throw invalid(`${name}: must be bytes in base64.`);
}

/** Strict: the built-in decoder ignores invalid characters. */
export function decodeBase64(value: string): Buffer<ArrayBuffer> | undefined {
  if (value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return undefined;
  return Buffer.from(value, "base64");
}

/** One vector, or a list of vectors: the older version always has a list where the newer has one vector. */
export function vectors(request: Request, where: string): readonly (readonly number[])[] {
  const value = request["vector"] ?? request["vectors"];
  const list: readonly unknown[] = Array.isArray(value) && value.length > 0 ? (value as unknown[]) : [];
  const found = list.every((one) => typeof one === "number") && list.length > 0 ? [list] : list;
  if (found.length > 0 && found.length <= vectorsMax && found.every(isVector)) return found as number[][];
  throw invalid(`${where}: must have a vector of numbers, or a list of 1 to ${vectorsMax} vectors.`);
}

const vectorsMax = 100;

function isVector(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "number" && Number.isFinite(one))
  );
}
