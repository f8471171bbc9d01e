/** Carries out what the records say has still to go: passages, then objects, and the record of it last. */
import type { Shelf } from "../documents/shelf.ts";
import type { KnowledgeParts } from "../parts.ts";
import { deleteChunks } from "./passages.ts";

const removalsPerRound = 50;
const keysPerDelete = 1_000;

/** Tells how many there were. Can be repeated, by anybody, at any time. */
export async function removeLeftovers(parts: Pick<KnowledgeParts, "objects" | "vectors">, shelf: Shelf, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (;;) {
    const removals = await shelf.removals(removalsPerRound);
    for (const { id, record } of removals) {
      signal?.throwIfAborted();
      await deleteChunks(parts, shelf, record.document_id, record.chunks, signal);
      for (let at = 0; at < record.object_keys.length; at += keysPerDelete)
        await parts.objects.delete(shelf.scope, record.object_keys.slice(at, at + keysPerDelete));
      await shelf.clean([{ op: "delete", id }]).catch((error: unknown) => ignoreMissing(error));
      removed += 1;
    }
    if (removals.length < removalsPerRound) return removed;
  }
}

/** Somebody else has removed it. */
function ignoreMissing(error: unknown): void {
  if (!(typeof error === "object" && error !== null && "code" in error && error.code === "NOT_FOUND")) throw error;
}
