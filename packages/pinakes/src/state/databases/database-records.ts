/** Stored records of databases: items of `state-settings`, one partition for the databases of a workspace and one for each of them. */
import { invalid, show } from "../../domain/errors.ts";
import { isJsonObject, utf8Bytes, type JsonObject } from "../../domain/json.ts";
import type { Item } from "../../ports/item-store.ts";

export const databasesTopic = "databases";
export const containersTopic = (database: string): string => `database:${database}`;

const nameBytesMax = 255;
export const settingsBytesMax = 131_072;
export const throughputMin = 400;
export const throughputMax = 1_000_000;

/** Request units per second. */
export interface Throughput {
  readonly ru: number;
  /** Maximum of autoscale; absent for fixed throughput. */
  readonly autoscale_max?: number;
}

export interface DatabaseInfo {
  readonly name: string;
  /** 8 hexadecimal digits, constant for the lifetime of the database. */
  readonly key: string;
  readonly etag: string;
  readonly modified_at: number;
  /** Shared by its containers; null if none was provisioned. */
  readonly throughput: Throughput | null;
  /** Contains system containers and those created at `/v1/containers`. */
  readonly default: boolean;
}

/** A container in its database. */
export interface DatabaseContainer {
  readonly name: string;
  readonly key: string;
  readonly etag: string;
  readonly modified_at: number;
  /** Its name in the workspace. */
  readonly container: string;
  /** Null: unlimited. */
  readonly throughput: Throughput | null;
  /** Client settings that are returned unchanged, beyond the container's definition. */
  readonly settings: JsonObject;
}

/** Names of databases and their containers: any string that fits into a path. */
export function checkName(name: unknown, what: string): string {
  if (typeof name !== "string" || name === "")
    throw invalid(`${what}: the id must be a non-empty string; got ${show(name)}.`);
  if (/[/\\?#\p{Cc}\u{10ffff}]/u.test(name) || name.endsWith(" "))
    throw invalid(
      `${what}: the id must not hold / \\ ? # or control characters, or end in a space; got ${show(name)}.`,
    );
  if (!name.isWellFormed()) throw invalid(`${what}: the id contains an unpaired surrogate.`);
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
