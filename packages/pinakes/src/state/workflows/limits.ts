/** Every limit of workflows, with its unit last. */
export const workflowLimits = Object.freeze({
  workflowIdCharsMax: 256,
  /** Checkpoints of a new workflow stay inside its document up to this size in sum; larger ones become items. */
  inlineCheckpointsBytesMax: 65_536,
  /** What `get` shows of the latest checkpoints, in sum. */
  recentCheckpointsBytesMax: 1_048_576,
  /** A checkpoint that is larger keeps its state in an object. */
  checkpointItemBytesMax: 1_048_576,
  checkpointBytesMax: 33_554_432,
  checkpointsPerCreateMax: 10_000,
  checkpointStepMax: 1_000_000_000,
  /** A page of checkpoints ends early, with a cursor, when it holds this much. */
  checkpointPageBytesMax: 4_194_304,
  pageItemsDefault: 20,
  pageItemsMax: 100,
  leaseSecondsDefault: 30,
  leaseSecondsMax: 3_600,
  ownerCharsMax: 256,
  idempotencyKeyCharsMax: 255,
  /** Of the longest batch a feature makes. */
  batchOperationsMax: 25,
  /** Leaves room for the other operations of a batch. */
  batchBytesMax: 1_572_864,
  /** How often a change is tried anew because others were faster. */
  changeAttemptsMax: 50,
  /** Ids of workflow items that a process remembers. */
  knownIdsMax: 10_000,
});
