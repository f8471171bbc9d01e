import type { Migration } from "@pinakes/client";

/** A source in one line: from and to of a move, the input of other kinds. */
export function sourceWords({ kind, ...told }: Migration["source"]): string {
  if (kind !== "collection") return JSON.stringify(told);
  const { repository, collection, to } = told as unknown as Place & { readonly to: Place };
  return `${repository}/${collection} → ${to.repository}/${to.collection}`;
}

/** As the server stores it: with all ids. */
interface Place {
  readonly repository: string;
  readonly collection: string;
}
