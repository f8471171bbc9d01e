/** Documents that a test needs to find, put there and indexed. */
import type { ConsoleServer } from "./server.ts";

export interface NewText {
  readonly name: string;
  readonly text: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

interface Collection {
  readonly documents_by_status: Readonly<Record<string, number>>;
}

const askAgainMs = 50;

/** Resolves when all documents of the collection are indexed; a test that waits in vain ends by its own time. */
export async function addDocuments(
  server: ConsoleServer,
  collection: string,
  texts: readonly NewText[],
): Promise<void> {
  for (const text of texts) await server.api("POST", `${collection}/documents`, text);
  for (;;) {
    const { documents_by_status } = await server.api<Collection>("GET", collection);
    if (documents_by_status["indexed"] === texts.length) return;
    if ((documents_by_status["failed"] ?? 0) > 0) throw new Error("A document could not be indexed.");
    await new Promise((resolve) => setTimeout(resolve, askAgainMs));
  }
}
