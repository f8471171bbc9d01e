/** Every limit of the quarantine, with its unit last. */
export const quarantineLimits = Object.freeze({
  /** How long an entry is kept, where no other time is set. */
  retentionMs: 2_592_000_000,
  pageEntriesMax: 100,
  pageEntriesDefault: 50,
  /** Keys looked at in one step of the sweep. */
  sweepKeysMax: 1_000,
  /** A copy without its entry that is older than this is of a process that died. */
  unfinishedMs: 3_600_000,
  /** Rows read or written at once. */
  rowsMax: 500,
  quadsMax: 500,
  entryBytesMax: 65_536,
  lineBytesMax: 67_108_864,
});
