/** Removes all documents of a partition, in steps. Idempotent: an interrupted call is repeated. */
import { succeeds } from "../../runtime/expected-errors.ts";
import type { Item } from "../../ports/item-store.ts";
import { companionField } from "../system-container.ts";
import { commitBatch, type Commit } from "./commit.ts";
import { inOwnWords } from "./target.ts";

const batchOperations = 24;

export async function clearPartition(commit: Commit): Promise<number> {
  try {
    return await (commit.target.system === undefined ? clearOwn(commit) : clearSystem(commit));
  } catch (error) {
    throw inOwnWords(commit.target, error);
  }
}

async function clearOwn({ items, caller, target, partition }: Commit): Promise<number> {
  let total = 0;
  for (;;) {
    const { deleted, done } = await items.deletePartition(caller.scope, target.definition.name, partition);
    total += deleted;
    if (done) return total;
  }
}

/** Document by document, so that companions are notified of each: their data must outlive the documents. */
async function clearSystem(commit: Commit): Promise<number> {
  const { items, caller, target, partition } = commit;
  const equals = Object.fromEntries(target.definition.partitionKey.map((path, i) => [path, partition[i] as string]));
  let total = 0;
  for (let cursor: string | undefined; ;) {
    const page = await items.query(caller.scope, target.definition.name, {
      equals,
      cursor,
      limit: batchOperations,
      // Checkpoints are removed, too: they are useless without their workflow.
      filter: { [companionField]: { exists: false } },
    });
    const deleted = page.items.length === 0 || (await deleteAll(commit, page.items));
    if (deleted) total += page.items.length;
    // One of them was deleted concurrently: read the remaining ones again.
    cursor = deleted ? page.cursor : undefined;
    if (deleted && cursor === undefined) return total;
  }
}

async function deleteAll(commit: Commit, found: readonly Item[]): Promise<boolean> {
  return succeeds(
    commitBatch(
      commit,
      found.map(({ id }) => ({ op: "delete", id, ifMatch: undefined })),
    ),
    "NOT_FOUND",
  );
}
