/** Every limit of files, with its unit last. */
export const fileLimits = Object.freeze({
  /** Of a file that is kept. To be attached to a collection it must be within the quota of documents (`fileBytesMax`). */
  bytesMax: 536_870_912,
  expirySecondsMin: 3_600,
  expirySecondsMax: 2_592_000,
  pageItemsMax: 10_000,
  itemsPerRead: 1_000,
  /** Bytes without a record are removed after this time: their request has ended. */
  unfinishedMsMax: 86_400_000,
  /** A delete that was interrupted goes on after this time. */
  deleteRestMs: 60_000,
  keysPerDelete: 1_000,
  uploadMsMax: 3_600_000,
  partBytesMax: 67_108_864,
  partsMax: 1_000,
  /** How long a link to the staging area can be used, and how long what was sent to it is kept. */
  stagingSecondsMax: 3_600,
  stagedMsMax: 86_400_000,
  stagedBytesMax: 52_428_800,
  stagedPerUserMax: 1_000,
  stagedKeyCharsMax: 900,
  batchFilesMax: 2_000,
  /** Files of a batch that are attached at the same time. */
  attachedAtOnce: 4,
});
