/**
 * The names that TrustGraph gives to collections of vectors, and what their points say. A name joins its parts with "_", which may also be
 * in them, so the users are named by whoever migrates and never guessed.
 */
import { show } from "../../domain/errors.ts";
import { chunkMetadata, entityMetadata, type StoredTerm } from "../../knowledge/index.ts";
import type { FoundUnit } from "../source.ts";
import { faultyRow, type ForeignRow } from "./row-reader.ts";
import type { FoundVectors, StoredPoint } from "./vector-store-reader.ts";
import type { VectorStoreSpec } from "./spec.ts";

export type VectorsOf = "chunks" | "entities";

export interface NamingRules {
  readonly prefixes: Readonly<Record<VectorsOf, string>>;
  /** A user or a collection as it is in a name. */
  readonly written: (name: string) => string;
}

export const qdrantNames: NamingRules = { prefixes: { chunks: "d_", entities: "t_" }, written: (name) => name };

/** Milvus takes letters, digits and underscores: each run of others is one underscore. */
export const milvusNames: NamingRules = {
  prefixes: { chunks: "doc_", entities: "entity_" },
  written: (name) =>
    name
      .replaceAll(/[^a-zA-Z0-9_]/g, "_")
      .replaceAll(/_+/g, "_")
      .replaceAll(/^_|_$/g, "") || "default",
};

interface Part {
  readonly name: string;
  readonly of: VectorsOf;
  readonly size: number | undefined;
}

/** One unit for each user and collection, over the vectors of its chunks and of its entities. */
export function* unitsByName(
  found: readonly FoundVectors[],
  { users, version }: NonNullable<VectorStoreSpec["trustgraph"]>,
  rules: NamingRules,
): Generator<FoundUnit> {
  const units = new Map<string, { readonly user: string; readonly collection: string; readonly parts: Part[] }>();
  for (const { name, size } of found) {
    const read = readName(name, version === "1.4" ? undefined : size, users, rules);
    if (typeof read === "string") {
      yield { name, target: { repository: "unknown", collection: name }, problems: [{ where: name, reason: read }] };
      continue;
    }
    const { user, collection, of } = read;
    const key = JSON.stringify([user, collection]);
    const unit = units.get(key) ?? { user, collection, parts: [] };
    unit.parts.push({ name, of, size });
    units.set(key, unit);
  }
  for (const { user, collection, parts } of units.values()) {
    const sizes = new Set(parts.map(({ size }) => size));
    const reason = `${parts.map(({ name }) => name).join(", ")} have vectors of different sizes (${[...sizes].join(", ")}); a collection has one. Leave some out with "skip".`;
    const problems = sizes.size > 1 ? [{ where: `${user}/${collection}`, reason }] : [];
    const keep = parts.map(({ name, of }) => ({ name, of }));
    yield { name: `${user}/${collection}`, target: { user, collection }, keep, problems };
  }
}

function readName(
  name: string,
  size: number | undefined,
  users: readonly string[],
  { prefixes, written }: NamingRules,
): { readonly user: string; readonly collection: string; readonly of: VectorsOf } | string {
  const of = (["chunks", "entities"] as const).find((one) => name.startsWith(prefixes[one]));
  if (of === undefined)
    return `starts neither with ${show(prefixes.chunks)} nor with ${show(prefixes.entities)}; omit it with "skip".`;
  const end = size === undefined ? "" : `_${size}`;
  if (!name.endsWith(end)) return `does not end with ${show(end)}, the size of its vectors; is it of version 1.4?`;
  const rest = name.slice(prefixes[of].length, name.length - end.length);
  const fitting = users.filter(
    (user) => rest.startsWith(`${written(user)}_`) && rest.length > written(user).length + 1,
  );
  const [user, other] = fitting.toSorted((a, b) => written(b).length - written(a).length);
  if (user === undefined)
    return `does not belong to any of the users ${users.map(show).join(", ")}; name its user in "users", or omit it with "skip".`;
  if (other !== undefined && written(other) === written(user))
    return `may belong to ${show(user)} and to ${show(other)}, whose names are written the same; name one of them.`;
  return { user, collection: rest.slice(written(user).length + 1), of };
}

/** A point as a row that TrustGraph's queries here find again. */
export function rowOf(of: VectorsOf, { id, vector, payload, lost }: StoredPoint, where: string): ForeignRow {
  const text = (field: string) => (typeof payload[field] === "string" ? payload[field] : undefined);
  const row = { where, id: `${of}-${id}`, vector, lost };
  if (of === "entities") {
    const entity = text("entity");
    return entity === undefined
      ? faultyRow(where, "names no entity.")
      : { ...row, metadata: entityMetadata(termOf(entity)) };
  }
  const [chunkId, doc] = [text("chunk_id"), text("doc")];
  if (chunkId === undefined && doc === undefined) return faultyRow(where, "has neither a chunk_id nor a doc.");
  return { ...row, metadata: chunkMetadata(chunkId), ...(doc === undefined ? {} : { text: doc }) };
}

/** TrustGraph stores the text of an entity alone, and reads it so. */
function termOf(text: string): StoredTerm {
  return { type: /^https?:\/\//.test(text) ? "iri" : "literal", value: text };
}
