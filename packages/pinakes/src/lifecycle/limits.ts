/** Every limit of the lifecycle, with its unit last. */
export const lifecycleLimits = Object.freeze({
  storeCharsMax: 16,
  topicPrefixCharsMax: 16,
  /** Rows of an operation. */
  participantsMax: 20,
  /** Of a text in a message. */
  messageTextCharsMax: 512,
  errorCharsMax: 1_000,
  /** Failures in a row after which an operation is `failed`; it is tried on all the same. */
  failuresMax: 5,
  retryMsFirst: 1_000,
  retryMsMax: 300_000,
  /** A row that was sent and not answered for so long is sent again. */
  replyMsMax: 60_000,
  /** A handler answers after so long, and is asked again for the rest. */
  handleMsMax: 20_000,
  /** A step that takes longer asks for no longer rest: its store waits more than it works. */
  stepCountedMsMax: 250,
  /** The longest that a step waits for its slot: as long as all stores together may need, so that only a clock set back meets it. */
  slotWaitMsMax: 15_000,
  /** Rows, keys or items that one step removes. */
  stepRowsMax: 500,
  /** How long a finished operation can be looked at. */
  reportDaysMax: 90,
  /** How long data that no record names is left alone. */
  orphanGraceMs: 86_400_000,
});
