/** A document that a command names. */
import { posix } from "node:path";
import type { Document } from "@pinakes/client";
import { hasCode, PinakesError } from "../../domain/errors.ts";
import { pagesOf } from "../../runtime/pages.ts";
import type { ClientSession } from "../client-session.ts";
import type { Address } from "../session.ts";

/** By id; else by name, or by its path in the folder, if only one document matches. */
export async function findDocument({ knowledge }: ClientSession, at: Address, word: string): Promise<Document> {
  try {
    return await knowledge.documents.get(at, word);
  } catch (error) {
    // INVALID: the word has a character that no id has.
    if (!hasCode(error, "NOT_FOUND", "INVALID")) throw error;
    const found: Document[] = [];
    for await (const page of pagesOf((cursor) =>
      knowledge.documents.list(at, { q: posix.basename(word), limit: 100, cursor }),
    )) {
      found.push(...page.items.filter((document) => document.name === word || placeOf(document) === word));
    }
    if (found.length > 1)
      throw new PinakesError(
        "CONFLICT",
        `${found.length} documents are called "${word}"; say which: ${found.map((document) => `${placeOf(document)} (${document.document_id})`).join(", ")}.`,
      );
    if (found[0] !== undefined) return found[0];
    throw new PinakesError(
      "NOT_FOUND",
      `There is no document "${word}" in ${at.repository}/${at.collection}, by id or name.`,
      {
        cause: error,
      },
    );
  }
}

/** The display name: its path in the source folder, or its name. */
export function placeOf({ name, source }: Document): string {
  const way = source.uri.startsWith("upload:") ? source.uri.slice("upload:".length) : source.uri;
  const slash = way.lastIndexOf("/");
  return slash === -1 ? name : way.slice(0, slash + 1) + name;
}
