/**
 * Units of the counts in an operation's report. A store counts what it removes, which is not what people count: a document is several
 * records and files, and a triple is stored with its terms and supports.
 */
import type { Operation } from "../../lifecycle/index.ts";

const purged: Readonly<Record<string, string>> = {
  documents: "records",
  objects: "files",
  triples: "triples, terms and supports",
  vectors: "files and records of the index",
};

/** Archiving removes nothing; the counts are what is kept. */
const archived: Readonly<Record<string, string>> = {
  documents: "records",
  objects: "files",
  triples: "triples",
  vectors: "chunks and own vectors",
};

/** The report of an external store has no unit. */
const other = "rows";

export function countedIn(action: Operation["action"], store: string): string {
  const words = action === "delete-collection" ? purged : archived;
  return Object.hasOwn(words, store) ? (words[store] as string) : other;
}
