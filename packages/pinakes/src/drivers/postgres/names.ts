/** Names and keys inside PostgreSQL: identifiers (63 bytes at most), advisory locks (64 bits), partition keys (a B-tree's limit). */
import { createHash } from "node:crypto";
import { invalid } from "../../domain/errors.ts";
import { utf8Bytes, withinUtf8Bytes } from "../../domain/json.ts";

const identifierBytesMax = 63;
/** (pk, unique value) must fit into 2,704 bytes of an index row; a unique value has up to 900. */
const partitionBytesMax = 1_024;

export class Names {
  /** Quoted, as every name here. */
  readonly schema: string;
  /** The schema's name as a literal. */
  readonly schemaText: string;
  readonly meta: string;
  readonly containers: string;
  readonly indexes: string;
  readonly #database: string;

  constructor(database: string) {
    if (
      typeof database !== "string" ||
      database === "" ||
      database.includes("\0") ||
      database.startsWith("pg_") ||
      utf8Bytes(database) > identifierBytesMax
    ) {
      throw invalid(
        `database: ${JSON.stringify(database)} cannot name a PostgreSQL schema; use 1–${identifierBytesMax} bytes that do not start with "pg_".`,
      );
    }
    this.#database = database;
    this.schema = quote(database);
    this.schemaText = `'${database.replaceAll("'", "''")}'`;
    this.meta = `${this.schema}."pinakes_meta"`;
    this.containers = `${this.schema}."pinakes_containers"`;
    this.indexes = `${this.schema}."pinakes_indexes"`;
  }

  /** Container names have up to 60 characters, so that the prefix fits. */
  table(container: string): string {
    return `${this.schema}.${quote(`c_${container}`)}`;
  }

  feed(container: string): string {
    return `${this.schema}.${quote(`f_${container}`)}`;
  }

  /** Unquoted and without schema: PostgreSQL puts an index where its table is. */
  index(container: string, part: string): string {
    const name = `x_${container}_${part}`;
    if (utf8Bytes(name) <= identifierBytesMax) return name;
    return `${name.slice(0, 46)}_${sha256(name).toString("hex", 0, 8)}`;
  }

  /** A literal for the advisory lock functions. Locks belong to the whole PostgreSQL database, so our name is part of the key. */
  lock(kind: "schema" | "container" | "partition" | "build", ...parts: readonly string[]): string {
    return `'${this.lockKey(kind, ...parts)}'::bigint`;
  }

  lockKey(kind: "schema" | "container" | "partition" | "build", ...parts: readonly string[]): string {
    return sha256([this.#database, kind, ...parts].join("\0"))
      .readBigInt64BE(0)
      .toString();
  }
}

/** The form of a partition that is a key. The long form cannot equal a short one, which starts with "[". */
export function partitionKeyOf(pk: string): string {
  return withinUtf8Bytes(pk, partitionBytesMax) ? pk : `sha256:${sha256(pk).toString("hex")}`;
}

export function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/**
 * The version that added the index is part of its column's name: a process with an older definition of an index of that name hits a missing
 * column, never keys with another meaning.
 */
export function indexColumn(index: string, version: number): string {
  return `k_${index}_${version}`;
}

export function uniqueColumn(key: string): string {
  return `u_${key}`;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
