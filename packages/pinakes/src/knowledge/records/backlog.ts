/** How long the oldest document of a collection has been on its way. */
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { documentsContainer, type DocumentRecord, type DocumentStatus } from "./records.ts";

const onTheirWay = ["uploading", "pending", "indexing"] as const satisfies readonly DocumentStatus[];
/** Of each status, the earliest uploads that are looked at. */
const lookedAtDocuments = 100;

/** Epoch milliseconds; undefined where nothing waits. */
export async function waitingSince(
  items: ItemStore,
  scope: Scope,
  incarnation: string,
  counts: Readonly<Record<DocumentStatus, number>>,
): Promise<number | undefined> {
  const times: number[] = [];
  for (const status of onTheirWay) {
    // Most collections have none: the counters, which are read anyway, say so.
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

/** One that searches show already is cut anew: its upload was long ago, and nobody has waited since then. */
function sinceOf({ live, version, touched_at, uploaded_at }: DocumentRecord): number {
  return live?.version === version ? touched_at : Date.parse(uploaded_at);
}
