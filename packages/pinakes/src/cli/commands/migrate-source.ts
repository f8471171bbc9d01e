/** The source of a migration as command-line words: a kind, a location, and a mapping for the rest. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { readJson, UsageError } from "../terminal/command.ts";

export interface SourceWords {
  readonly kind: string;
  readonly place: string | undefined;
  readonly repository: string | undefined;
  readonly owner: string | undefined;
  /** JSON, or the name of a JSON file. */
  readonly mapping: string | undefined;
}

export interface CollectionWords {
  readonly repository: string;
  readonly collection: string;
}

/** `repository/collection`; ids are validated by the feature. */
export function collectionPlace(word: string): CollectionWords {
  const [repository = "", collection = "", ...more] = word.split("/");
  if (repository === "" || collection === "" || more.length > 0)
    throw new UsageError(`migrate collection: "${word}" must be a repository and a collection, such as kb/papers.`);
  return { repository, collection };
}

const isAddress = (text: string) => /^[a-z][a-z0-9+]*:\/\//i.test(text);

export async function readSource({ kind, place, repository, owner, mapping }: SourceWords): Promise<JsonObject> {
  const where = place === undefined || isAddress(place) ? place : resolve(place);
  const target = {
    ...(repository === undefined ? {} : { repository }),
    ...(owner === undefined ? {} : { user: owner }),
  };
  return { kind, ...target, ...(await placeOf(kind, where)), ...(await mappingOf(mapping)) };
}

async function placeOf(kind: string, place: string | undefined): Promise<JsonObject> {
  if (kind === "unregistered") return place === undefined ? {} : { listing: place };
  if (place === undefined)
    throw new UsageError(`migrate plan ${kind}: specify the location, such as a file, a folder or an address.`);
  switch (kind) {
    case "triples": {
      if (/^cassandra:/i.test(place)) return { cassandra: place };
      if (isAddress(place)) return { postgres: place };
      const folder = (await stat(place).catch(() => undefined))?.isDirectory() ?? false;
      return folder ? { csv: place } : { sqlite: place };
    }
    case "rows":
      return { path: place };
    case "chroma":
      return isAddress(place) ? { server: place } : { folder: place };
    case "qdrant":
    case "milvus":
      return { server: place };
    case "lisa":
      return { folder: place };
    default:
      throw new UsageError(
        `migrate plan: "${kind}" is not known; there are triples, rows, chroma, qdrant, milvus, unregistered, lisa.`,
      );
  }
}

async function mappingOf(given: string | undefined): Promise<JsonObject> {
  if (given === undefined) return {};
  const inline = given.trimStart().startsWith("{");
  const text = inline
    ? given
    : await readFile(given, "utf8").catch((error: unknown) => {
        throw new UsageError(`--mapping: ${given} cannot be read: ${(error as Error).message}`, { cause: error });
      });
  const value = readJson(text, "--mapping");
  if (!isJsonObject(value))
    throw new UsageError('--mapping: must be an object, such as {"separator":"__","objects":"absolute"}.');
  return value;
}
