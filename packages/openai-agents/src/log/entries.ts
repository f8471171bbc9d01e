/**
 * A session is a log, and the log is a thread: items, and changes of what came before them. What the history is follows from the
 * log's order alone, so writers need no lock and readers no transaction.
 *
 * An item stands where it was written. An item with a `group` shows only where a change says so: that is how items that do not fit
 * one batch appear together. A change with `at` counts only if it got that sequence number: then nothing was written between what its
 * writer had read and the change itself. Another one is void, as if it were not there.
 */
import type { JsonObject, Stored, ThreadMessage } from "@pinakes/client";

export interface ItemEntry {
  readonly kind: "item";
  readonly id: string;
  readonly item: JsonObject;
  readonly group?: string;
}

export interface ChangeEntry {
  readonly kind: "change";
  readonly id: string;
  /** Ids of items that are no longer of the history. */
  readonly removes: readonly string[];
  /** So many items of the group of this name stand here. */
  readonly group: string;
  readonly items: number;
  /** The sequence number it must have; null: any. */
  readonly at: number | null;
  /** Of a transaction: what it was, to tell a repetition from another one under the same id. It stays, as the memory that it was done. */
  readonly digest?: string;
}

export type StoredEntry = Stored<ThreadMessage> & (ItemEntry | ChangeEntry) & { readonly sequence: number };

/** Undefined for what something else put into the same thread. */
export function asEntry(message: Stored<ThreadMessage>): StoredEntry | undefined {
  return message["kind"] === "item" || message["kind"] === "change" ? (message as StoredEntry) : undefined;
}

export const isVoid = (change: ChangeEntry & { readonly sequence: number }): boolean =>
  change.at !== null && change.sequence !== change.at;

/** Ids of one call's items sort as the items do. */
export const itemId = (group: string, position: number): string => `${group}.${String(position).padStart(6, "0")}`;
