import type { SearchOutcome } from "@pinakes/client";

/** An answer without hits, by its outcome. */
export const noAnswerStrings: Readonly<
  Record<Exclude<SearchOutcome, "ok">, { readonly title: string; readonly about: string }>
> = {
  empty: { title: "Nothing to search yet", about: "No documents are indexed yet. Add some, then search again." },
  indexing: { title: "Still indexing", about: "Documents are being indexed. Search again in a moment." },
  no_match: { title: "No match", about: "No results for this question. Try different words." },
};

export const skippedStrings = {
  title: (count: number) =>
    count === 1 ? "1 collection could not be searched" : `${count} collections could not be searched`,
};
