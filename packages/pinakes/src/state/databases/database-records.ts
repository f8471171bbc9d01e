/** What is kept of databases: items of `state-settings`, one partition for the databases of a workspace and one for each of them. */
import { invalid, show } from "../../domain/errors.ts";
import { isJsonObject, utf8Bytes, type JsonObject } from "../../domain/json.ts";
import type { Item } from "../../ports/item-store.ts";

export const databasesTopic = "databases";
export const containersTopic = (database: string): string => `database:${database}`;

const nameBytesMax = 255;
export const settingsBytesMax = 131_072;
export const throughputMin = 400;
export const throughputMax = 1_000_000;

/** Request units a second. */
export interface Throughput {
  readonly ru: number;
  /** The upper end of an automatic scale; absent where the throughput is fixed. */
  readonly autoscale_max?: number;
}

export interface DatabaseInfo {
  readonly name: string;
  /** 8 hexadecimal digits: stays the same while the database lives. */
  readonly key: string;
  readonly etag: string;
  readonly modified_at: number;
  /** Shared by its containers; null where none was asked for. */
  readonly throughput: Throughput | null;
  /** The containers of the system and those made at `/v1/containers` are in it. */
  readonly default: boolean;
}

/** A container as its database knows it. */
export interface DatabaseContainer {
  readonly name: string;
  readonly key: string;
  readonly etag: string;
  readonly modified_at: number;
  /** Its name in the workspace. */
  readonly container: string;
  /** Null where nobody set one: nothing is limited. */
  readonly throughput: Throughput | null;
  /** What a client wants to read back as it was given, beyond what the container itself is declared as. */
  readonly settings: JsonObject;
}

/** Names of databases and their containers: any text that fits into a path. */
export function checkName(name: unknown, what: string): string {
  if (typeof name !== "string" || name === "")
    throw invalid(`${what}: the id is a text that is not empty; got ${show(name)}.`);
  if (/[/\\?#\p{Cc}\u{10ffff}]/u.test(name) || name.endsWith(" "))
    throw invalid(
      `${what}: the id must not hold / \\ ? # or control characters, or end in a space; got ${show(name)}.`,
    );
  if (!name.isWellFormed()) throw invalid(`${what}: the id holds half of a surrogate pair.`);
  if (utf8Bytes(name) > nameBytesMax)
    throw invalid(`${what}: the id has ${utf8Bytes(name)} bytes; at most ${nameBytesMax} are allowed.`);
  return name;
}

export function checkThroughput(given: unknown): Throughput | null {
  if (given === null || given === undefined) return null;
  if (!isJsonObject(given)) throw invalid("throughput: must be { ru } or null.");
  const { ru, autoscale_max: max } = given;
  const fits = (value: unknown): value is number =>
    typeof value === "number" && Number.isInteger(value) && value >= throughputMin / 10 && value <= throughputMax;
  if (!fits(ru) || (max !== undefined && !fits(max)))
    throw invalid(`throughput: request units are whole numbers from ${throughputMin} to ${throughputMax}.`);
  return max === undefined ? { ru } : { ru, autoscale_max: max };
}

export function databaseOf({ id, etag, modifiedAt, document }: Item): DatabaseInfo {
  return {
    name: id,
    key: document["key"] as string,
    etag,
    modified_at: modifiedAt,
    throughput: checkThroughput(document["throughput"]),
    default: false,
  };
}

export function containerOf({ id, etag, modifiedAt, document }: Item): DatabaseContainer {
  return {
    name: id,
    key: document["key"] as string,
    etag,
    modified_at: modifiedAt,
    container: document["container"] as string,
    throughput: checkThroughput(document["throughput"]),
    settings: document["settings"] as JsonObject,
  };
}
