/** Limits of workflows. */
export const workflowLimits = Object.freeze({
  workflowIdCharsMax: 256,
  /** Checkpoints of a new workflow are stored in its document up to this total size; larger ones become items. */
  inlineCheckpointsBytesMax: 65_536,
  /** Total size of the latest checkpoints in `get`. */
  recentCheckpointsBytesMax: 1_048_576,
  /** The state of a larger checkpoint is stored as an object. */
  checkpointItemBytesMax: 1_048_576,
  checkpointBytesMax: 33_554_432,
  checkpointsPerCreateMax: 10_000,
  checkpointStepMax: 1_000_000_000,
  /** A page of checkpoints ends early, with a cursor, at this size. */
  checkpointPageBytesMax: 4_194_304,
  pageItemsDefault: 20,
  pageItemsMax: 100,
  leaseSecondsDefault: 30,
  leaseSecondsMax: 3_600,
  ownerCharsMax: 256,
  idempotencyKeyCharsMax: 255,
  /** The longest batch of a feature. */
  batchOperationsMax: 25,
  /** Leaves room for the other operations of a batch. */
  batchBytesMax: 1_572_864,
  /** Maximum retries of a change after conflicts. */
  changeAttemptsMax: 50,
  /** Ids of workflow items cached per process. */
  knownIdsMax: 10_000,
});
