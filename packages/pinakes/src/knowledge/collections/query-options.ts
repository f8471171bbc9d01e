/**
 * Options of a query: add the records of its collections, and answer nothing instead of an error for a collection that does not exist (or
 * is not visible, which is the same).
 */
import { hasCode } from "../../domain/errors.ts";
import type { CollectionView } from "../views.ts";

export interface QueryWishes {
  /** Adds the records of the collections. */
  readonly include_metadata?: boolean | undefined;
  /** `empty`: a missing collection gives no hits and is listed in `missing`. Absent, or `error`: NOT_FOUND. */
  readonly unknown_collections?: "error" | "empty" | undefined;
}

/** A collection, or all of a repository that the caller may read. */
export interface SearchTarget {
  readonly repository: string;
  readonly collection?: string | undefined;
}

export interface CollectionName {
  readonly repository: string;
  readonly collection: string;
}

export interface QueryMore<Name extends SearchTarget = SearchTarget> {
  /** With `include_metadata`. */
  readonly collections?: readonly CollectionView[];
  /** With `unknown_collections: "empty"`: whether all named collections exist. */
  readonly collection_exists?: boolean;
  readonly missing?: readonly Name[];
}

/** Splits the names into those that exist for the caller and those that do not. */
export async function knownAmong<Name extends SearchTarget>(
  names: readonly Name[],
  open: (name: Name) => Promise<unknown>,
): Promise<{ readonly known: readonly Name[]; readonly missing: readonly Name[] }> {
  const known: Name[] = [];
  const missing: Name[] = [];
  for (const name of names) {
    try {
      await open(name);
      known.push(name);
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
      missing.push(name);
    }
  }
  return { known, missing };
}

/** Deduplicated. */
export async function recordsOf(
  names: readonly CollectionName[],
  read: (name: CollectionName) => Promise<CollectionView>,
): Promise<readonly CollectionView[]> {
  const each = new Map(names.map((name) => [`${name.repository}/${name.collection}`, name]));
  return Promise.all([...each.values()].map(read));
}
