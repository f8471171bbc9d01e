/** Messages or rows in as few calls as they take: each within its number of items and its bytes, in order. */

/** The limit of `threads.appendMany`. */
export const threadMessagesMax = 20;
/** Half of the store's batch limit, since engines have different overheads. A larger message is sent alone. */
export const batchBytesMax = 1_048_576;

const utf8 = new TextEncoder();

export function* inBatches<Item extends object>(
  items: readonly Item[],
  { itemsMax, bytesMax } = { itemsMax: threadMessagesMax, bytesMax: batchBytesMax },
): Generator<readonly Item[]> {
  let batch: Item[] = [];
  let batchBytes = 0;
  for (const item of items) {
    const bytes = utf8.encode(JSON.stringify(item)).length;
    if (batch.length === itemsMax || (batch.length > 0 && batchBytes + bytes > bytesMax)) {
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    batch.push(item);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}
