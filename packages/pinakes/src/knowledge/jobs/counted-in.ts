/**
 * What the numbers of a report count, in words. A store counts what it has to remove, which is not what people count: a document is several
 * records and files, and a triple is kept with its terms and with what it was found in.
 */
import type { Operation } from "../../lifecycle/index.ts";

const purged: Readonly<Record<string, string>> = {
  documents: "records",
  objects: "files",
  triples: "triples, terms and supports",
  vectors: "files and records of the index",
};

/** Nothing is removed then; they tell what they keep. */
const archived: Readonly<Record<string, string>> = {
  documents: "records",
  objects: "files",
  triples: "triples",
  vectors: "passages and own vectors",
};

/** A store of another process says only how many. */
const other = "rows";

export function countedIn(action: Operation["action"], store: string): string {
  const words = action === "delete-collection" ? purged : archived;
  return Object.hasOwn(words, store) ? (words[store] as string) : other;
}
