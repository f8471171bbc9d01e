/** Messages in as few calls as a thread takes: each within its number of messages and its bytes, in order. */

/** Of `threads.appendMany`. */
export const threadMessagesMax = 20;
/** Half of what a batch of the store may hold, since other engines count other overheads. A larger message goes alone. */
export const batchBytesMax = 1_048_576;

const utf8 = new TextEncoder();

export function* inBatches<Message extends object>(messages: readonly Message[]): Generator<readonly Message[]> {
  let batch: Message[] = [];
  let batchBytes = 0;
  for (const message of messages) {
    const bytes = utf8.encode(JSON.stringify(message)).length;
    if (batch.length === threadMessagesMax || (batch.length > 0 && batchBytes + bytes > batchBytesMax)) {
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    batch.push(message);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}
