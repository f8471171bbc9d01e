import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { documentsContainer, type DocumentRecord, type DocumentStatus } from "./records.ts";

const onTheirWay = ["uploading", "pending", "indexing"] as const satisfies readonly DocumentStatus[];
/** The earliest uploads per status that are read. */
const lookedAtDocuments = 100;

/** When the oldest unfinished document of a collection arrived, in epoch milliseconds; undefined if nothing waits. */
export async function waitingSince(
  items: ItemStore,
  scope: Scope,
  incarnation: string,
  counts: Readonly<Record<DocumentStatus, number>>,
): Promise<number | undefined> {
  const times: number[] = [];
  for (const status of onTheirWay) {
    // Most collections have none, according to the counters, which are read anyway.
    if (counts[status] === 0) continue;
    const page = await items.query(scope, documentsContainer.name, {
      index: "byStatus",
      equals: { incarnation, kind: "document", status },
      order: "asc",
      limit: lookedAtDocuments,
    });
    for (const { document } of page.items) times.push(sinceOf(document as unknown as DocumentRecord));
  }
  return times.length === 0 ? undefined : Math.min(...times);
}

/** A document that is already live is being re-indexed: it waits since then, not since its upload. */
function sinceOf({ live, version, touched_at, uploaded_at }: DocumentRecord): number {
  return live?.version === version ? touched_at : Date.parse(uploaded_at);
}
