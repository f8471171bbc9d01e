/**
 * Limits of the DynamoDB service, enforced by us before a request is sent: local stand-ins let some of them pass, and an error of
 * ours says what to do.
 */
export const serviceLimits = Object.freeze({
  hashKeyBytesMax: 2_048,
  sortKeyBytesMax: 1_024,
  itemBytesMax: 409_600,
  /**
   * Ours: what an item may have before its document goes to the object store. The rest is room for the keys of indexes that are added
   * later (15 of 1,004 bytes at most, with their names) and for how the service counts numbers.
   */
  itemInlineBytesMax: 409_600 - 16_384,
  transactionActionsMax: 100,
  transactionBytesMax: 4_194_304,
  batchGetKeysMax: 100,
  batchWriteItemsMax: 25,
});
