/**
 * Computes the changes for saving a list of messages. The list is a window on the chat: from its first to its last message the chat becomes
 * the list; messages outside are unchanged. So a whole chat can be saved repeatedly, a regenerated answer replaces the old one, and a stale
 * list, or one with only the new messages, deletes nothing.
 */
import { PinakesClientError, type JsonObject, type Stored, type ThreadMessage } from "@pinakes/client";
import { isSameMessage } from "./ui-document.ts";

export type Given = JsonObject & { readonly id: string };

export interface SavePlan {
  readonly replace: readonly { readonly stored: Stored<ThreadMessage>; readonly given: Given }[];
  readonly append: readonly Given[];
  readonly remove: readonly Stored<ThreadMessage>[];
}

export function planSave(stored: readonly Stored<ThreadMessage>[], given: readonly Given[]): SavePlan {
  const place = new Map(stored.map((document, index) => [document.id, index]));
  const kept = new Map<string, Given>();
  const append: Given[] = [];
  let last = -1;
  for (const message of given) {
    const at = place.get(message.id);
    if (kept.has(message.id) || append.some((other) => other.id === message.id))
      throw invalid(`The message "${message.id}" is in the list twice.`);
    if (at === undefined) append.push(message);
    else if (append.length > 0 || at < last) throw invalid(outOfOrder(message.id));
    else {
      kept.set(message.id, message);
      last = at;
    }
  }
  const first = given.length === 0 ? undefined : place.get(given[0]?.id ?? "");
  const end = append.length > 0 ? stored.length : last;
  return {
    replace: stored.flatMap((document) => {
      const message = kept.get(document.id);
      return message === undefined || isSameMessage(document, message) ? [] : [{ stored: document, given: message }];
    }),
    append,
    remove: first === undefined ? [] : stored.slice(first, end).filter((document) => !kept.has(document.id)),
  };
}

const outOfOrder = (id: string) =>
  `The message "${id}" is stored at another place of the chat than in the list. Messages keep the order in which they were first saved: load the chat, and add new messages at its end.`;

const invalid = (detail: string) => new PinakesClientError({ code: "INVALID", status: 400, detail });
