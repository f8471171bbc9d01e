/** Every limit of the item and object stores; each name ends with its unit. Tests check each limit and one past it. */
export const limits = Object.freeze({
  tenantCharsMax: 128,
  containerNameCharsMax: 60,
  partitionPathsMax: 3,
  partitionKeyBytesMax: 1_024,
  idBytesMax: 1_023,
  /** Longer ids are stored as a prefix and a hash, so that every engine's key limits hold. */
  idNativeBytesMax: 255,
  /** Ids are ordered and ranged by this prefix only. */
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
  /** A page ends early, with a cursor, once it holds this many bytes … */
  pageBytesMax: 4_194_304,
  /** … or once a residual filter has examined this many rows. */
  pageRowsExaminedMax: 10_000,
  ttlSecondsMax: 2_147_483_647,
  /** Tenants with a default time to live of their own in one container. */
  tenantTtlsMax: 1_000,
  purgeItemsMax: 1_000,
  feedRetentionMs: 7 * 86_400_000,
  /** With the tenant's prefix (131 bytes) and a bucket prefix it stays within S3's 1,024. */
  objectKeyBytesMax: 800,
  /** S3's maximum for a single PUT; a larger object is several objects and a manifest. */
  objectBytesMax: 5 * 1024 ** 3,
  /** The most `get` loads into memory; `stream` has no such limit. */
  objectGetBytesMax: 256 * 1024 ** 2,
  objectListKeysMax: 1_000,
  objectDeleteKeysMax: 1_000,
});
