/** Every limit of the intake, with its unit last. */
export const intakeLimits = Object.freeze({
  /** What one snapshot or delta may have, and so what it takes on the local disk while it is read. */
  sourceBytesMax: 20 * 1024 ** 3,
  sourceFilesMax: 10_000,
  /** A part is one delta of the log. Well below the limits of a delta, so that several fit into memory. */
  partRowsMax: 10_000,
  partBytesMax: 16 * 1024 ** 2,
  /** How long an import waits for a collection that takes no writes. */
  waitMsMax: 600_000,
  pauseMsFirst: 200,
  pauseMsMax: 10_000,
  /** How long a message is left alone that could not be worked on, through no fault of its own. */
  releasedMs: 5_000,
  messagesMax: 4,
});
