/** Every limit of the lifecycle, with its unit last. */
export const lifecycleLimits = Object.freeze({
  storeCharsMax: 16,
  topicPrefixCharsMax: 16,
  /** Rows of an operation. */
  participantsMax: 20,
  /** Of a text in a message. */
  messageTextCharsMax: 512,
  errorCharsMax: 1_000,
  /** Consecutive failures after which an operation is `failed`; it is retried nevertheless. */
  failuresMax: 5,
  retryMsFirst: 1_000,
  retryMsMax: 300_000,
  /** A sent row without a reply is sent again after this time. */
  replyMsMax: 60_000,
  /** A handler replies after this time, and is asked again for the rest. */
  handleMsMax: 20_000,
  /** Steps longer than this do not increase the pause: their store waits more than it works. */
  stepCountedMsMax: 250,
  /** Maximum wait of a step for its slot: as long as all stores together may need, so that only a clock set back reaches it. */
  slotWaitMsMax: 15_000,
  /** Rows, keys or items removed per step. */
  stepRowsMax: 500,
  /** How long a finished operation can be read. */
  reportDaysMax: 90,
  /** How long data that no record names is left alone. */
  orphanGraceMs: 86_400_000,
});
