/** Every limit of the queue port; each name ends with its unit. Tests check each limit and one past it. */
export const queueLimits = Object.freeze({
  queueNameCharsMax: 60,
  groupBytesMax: 256,
  dedupIdBytesMax: 256,
  ownerBytesMax: 128,
  /** As JSON in UTF-8; with its envelope within SQS's 256 KiB and DynamoDB's 400 KB. */
  bodyBytesMax: 200_000,
  /** Less than a document's 64, because the record around it needs some. */
  bodyDepthMax: 60,
  receiptCharsMax: 8_192,
  deadIdCharsMax: 100,
  /** Of a failure; a longer one is truncated, since reporting a failure must not fail. */
  reasonCharsMax: 2_000,
  receiveMessagesMax: 10,
  leaseMsDefault: 30_000,
  leaseMsMin: 100,
  leaseMsMax: 12 * 3_600_000,
  delayMsMax: 7 * 86_400_000,
  retryMsFirst: 1_000,
  retryMsBackoffMax: 60_000,
  retryMsMax: 12 * 3_600_000,
  waitMsMax: 600_000,
  pollMsMin: 10,
  pollMsFirst: 50,
  pollMsDefault: 5_000,
  pollMsMax: 30_000,
  /** Waiting `receive` calls of one process. */
  waitersMax: 1_000,
  attemptsDefault: 5,
  leaseLossesDefault: 10,
  attemptsMax: 1_000,
  groupMessagesDefault: 100_000,
  /** Pages of dead letters. */
  deadPageItemsMax: 100,
  statsGroupsMax: 10_000,
});
