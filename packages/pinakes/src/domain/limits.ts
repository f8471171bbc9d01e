/** Every limit of the item and object stores, with its unit last. Tests stand at each and one past it. */
export const limits = Object.freeze({
  tenantCharsMax: 128,
  containerNameCharsMax: 60,
  partitionPathsMax: 3,
  partitionKeyBytesMax: 1_024,
  idBytesMax: 1_023,
  /** Longer ids are kept under a prefix and a hash, so that every engine's key limits hold. */
  idNativeBytesMax: 255,
  /** Order and ranges of ids go by this much of their beginning. */
  idOrderBytesMax: 192,
  indexesMax: 15,
  indexPathsMax: 8,
  indexKeyBytesMax: 900,
  uniqueKeysMax: 5,
  documentBytesMax: 2_097_152,
  documentDepthMax: 64,
  batchOperationsMax: 100,
  batchBytesMax: 2_097_152,
  patchStepsMax: 10,
  filterNodesMax: 100,
  readManyKeysMax: 100,
  pageItemsDefault: 100,
  pageItemsMax: 1_000,
  /** A page ends early, with a cursor, when it holds this much … */
  pageBytesMax: 4_194_304,
  /** … or when a residual filter has looked at this many rows. */
  pageRowsExaminedMax: 10_000,
  ttlSecondsMax: 2_147_483_647,
  purgeItemsMax: 1_000,
  feedRetentionMs: 7 * 86_400_000,
  /** With the tenant's prefix (131 bytes) and a bucket prefix it stays within S3's 1,024. */
  objectKeyBytesMax: 800,
  /** What S3 takes in one piece; a larger object is several objects and a manifest. */
  objectBytesMax: 5 * 1024 ** 3,
  /** What `get` puts into memory at once; `stream` has no such limit. */
  objectGetBytesMax: 256 * 1024 ** 2,
  objectListKeysMax: 1_000,
  objectDeleteKeysMax: 1_000,
});
