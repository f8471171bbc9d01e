/** Moves objects by their stored keys and bytes. */
import { createHash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { ContentHash, type Measured } from "../content-hash.ts";
import type { MoveRecord } from "./move-record.ts";
import type { MoveOptions, MovingStores } from "./move-stores.ts";

const part = "objects";

export async function copyObjects(
  from: MovingStores,
  to: MovingStores,
  record: MoveRecord,
  options: MoveOptions,
): Promise<void> {
  const { system, signal } = options;
  const progress = await record.read(part);
  if (progress.done) return;
  let { cursor: after, copied } = progress;
  let done = false;
  try {
    while (!done) {
      const page = await from.objects.list(system, "", { after, signal });
      for (const { key } of page.keys) {
        signal.throwIfAborted();
        if (!isSpilled(from, key)) await copyObject(from, to, key, options);
        after = key;
        copied += 1;
        options.onProgress?.({ what: part, done: copied });
        if (copied % objectsPerCheckpoint === 0) await record.write(part, { cursor: after, copied, done });
      }
      done = page.next === undefined;
    }
  } finally {
    // Also when aborted, so that the next attempt resumes.
    await record.write(part, { cursor: after, copied, done });
  }
}

const objectsPerCheckpoint = 100;

async function copyObject(
  from: MovingStores,
  to: MovingStores,
  key: string,
  { system, signal }: MoveOptions,
): Promise<void> {
  const body = await from.objects.stream(system, key, { signal });
  // Deleted since it was listed: the store is in use, although it must not be.
  if (body === undefined)
    throw new PinakesError(
      "CONFLICT",
      `The object ${key} was deleted during the move. Stop whatever uses the source, and continue.`,
    );
  await to.objects.put(system, key, body, { signal });
}

export async function measureObjects(stores: MovingStores, { system, signal }: MoveOptions): Promise<Measured> {
  const sum = new ContentHash();
  for (let after: string | undefined; ;) {
    const page = await stores.objects.list(system, "", { after, signal });
    for (const { key } of page.keys) {
      if (isSpilled(stores, key)) continue;
      const digest = createHash("sha256");
      for await (const chunk of (await stores.objects.stream(system, key, { signal })) ?? []) digest.update(chunk);
      sum.add(JSON.stringify([key, digest.digest("hex")]));
    }
    after = page.next;
    if (after === undefined) return sum.measured;
  }
}

/** Documents too large for a DynamoDB item: they are moved as items. */
function isSpilled({ spillPrefix }: MovingStores, key: string): boolean {
  return spillPrefix !== undefined && key.startsWith(spillPrefix);
}
