/**
 * What a query may ask for beside its hits: the records of the collections that it was about, and an empty answer instead of an error
 * where one is not there (or not for the caller, which is the same).
 */
import { hasCode } from "../../domain/errors.ts";
import type { CollectionView } from "../views.ts";

export interface QueryWishes {
  /** Adds the records of the collections. */
  readonly include_metadata?: boolean | undefined;
  /** `empty`: a collection that is not there answers nothing and is named. Absent, or `error`: NOT_FOUND. */
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
  /** With `unknown_collections: "empty"`: whether all that were named are there. */
  readonly collection_exists?: boolean;
  readonly missing?: readonly Name[];
}

/** Which of them are there for the caller, and which are not. */
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

/** Each once. */
export async function recordsOf(
  names: readonly CollectionName[],
  read: (name: CollectionName) => Promise<CollectionView>,
): Promise<readonly CollectionView[]> {
  const each = new Map(names.map((name) => [`${name.repository}/${name.collection}`, name]));
  return Promise.all([...each.values()].map(read));
}
