/**
 * A session is a log stored in a thread: items, and changes of earlier entries. The order of the log alone determines the history, so
 * writers need no lock and readers no transaction.
 *
 * An item is at the position where it was written. An item with a `group` becomes visible only through a change: this way, items that do
 * not fit into one batch appear together. A change with `at` is valid only if it got that sequence number, which means that nothing was
 * written between its writer's read and the change. Any other such change is void and ignored.
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
  /** Ids of items removed from the history. */
  readonly removes: readonly string[];
  /** This many items of the named group appear at this position. */
  readonly group: string;
  readonly items: number;
  /** The sequence number it must have; null: any. */
  readonly at: number | null;
  /**
   * For a transaction: its content, to distinguish a repetition from another one with the same id. It is kept as the record that it was
   * done.
   */
  readonly digest?: string;
}

export type StoredEntry = Stored<ThreadMessage> & (ItemEntry | ChangeEntry) & { readonly sequence: number };

/** Undefined for messages that other programs added to the thread. */
export function asEntry(message: Stored<ThreadMessage>): StoredEntry | undefined {
  return message["kind"] === "item" || message["kind"] === "change" ? (message as StoredEntry) : undefined;
}

export const isVoid = (change: ChangeEntry & { readonly sequence: number }): boolean =>
  change.at !== null && change.sequence !== change.at;

/** Ids of one call's items sort as the items do. */
export const itemId = (group: string, position: number): string => `${group}.${String(position).padStart(6, "0")}`;
