/**
 * Limits of the DynamoDB service, enforced before a request is sent: local servers accept some violations, and our errors say what to do.
 */
export const serviceLimits = Object.freeze({
  hashKeyBytesMax: 2_048,
  sortKeyBytesMax: 1_024,
  itemBytesMax: 409_600,
  /**
   * Our limit: the largest item before its document goes to the object store. The rest is room for the keys of indexes that are added later
   * (15 of 1,004 bytes at most, with their names) and for how the service counts numbers.
   */
  itemInlineBytesMax: 409_600 - 16_384,
  transactionActionsMax: 100,
  transactionBytesMax: 4_194_304,
  batchGetKeysMax: 100,
  batchWriteItemsMax: 25,
});
