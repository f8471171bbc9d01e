/** Every limit of the import; each name ends with its unit. */
export const intakeLimits = Object.freeze({
  /** Maximum size of one snapshot or delta, and so of its copy on the local disk. */
  sourceBytesMax: 20 * 1024 ** 3,
  sourceFilesMax: 10_000,
  /** A part is one delta of the log. Well below the limits of a delta, so that several fit into memory. */
  partRowsMax: 10_000,
  partBytesMax: 16 * 1024 ** 2,
  /** How long an import waits for a collection that accepts no writes. */
  waitMsMax: 600_000,
  pauseMsFirst: 200,
  pauseMsMax: 10_000,
  /** How long a message is hidden that could not be processed, through no fault of its own. */
  releasedMs: 5_000,
  messagesMax: 4,
});
