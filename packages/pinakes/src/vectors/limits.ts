/** Every limit of the vector store; each name ends with its unit. */
export const vectorLimits = Object.freeze({
  dimsMin: 2,
  dimsMax: 4_096,
  collectionIdCharsMax: 128,
  rowIdBytesMax: 512,
  rowTextBytesMax: 262_144,
  rowMetadataBytesMax: 32_768,
  metadataFieldsMax: 256,
  deltaIdCharsMax: 200,
  deltaRowsMax: 10_000,
  deltaBytesMax: 64 * 1024 ** 2,
  /** Above either of these an append is rejected until the compactor has caught up. */
  pendingDeltasMax: 1_000,
  pendingBytesMax: 256 * 1024 ** 2,
  /** What one fold takes from the log. */
  foldDeltasMax: 200,
  foldBytesMax: 256 * 1024 ** 2,
  deltaFailuresMax: 5,
  /** A segment of this size is final: only its share of dead rows makes it worth rewriting. */
  segmentRowsMax: 262_144,
  segmentBytesMax: 768 * 1024 ** 2,
  segmentsMax: 24,
  /** From this size on a merge groups the rows of a segment into lists. */
  ivfRowsMin: 20_000,
  queryHitsMax: 1_000,
  queryTextCharsMax: 10_000,
  getIdsMax: 1_000,
});
