import type { Migration } from "@pinakes/client";

/** A source in one line: from where to where of a move, and of every other kind what it was told. */
export function sourceWords({ kind, ...told }: Migration["source"]): string {
  if (kind !== "collection") return JSON.stringify(told);
  const { repository, collection, to } = told as unknown as Place & { readonly to: Place };
  return `${repository}/${collection} → ${to.repository}/${to.collection}`;
}

/** As the server keeps it: with ids, and all of them. */
interface Place {
  readonly repository: string;
  readonly collection: string;
}
