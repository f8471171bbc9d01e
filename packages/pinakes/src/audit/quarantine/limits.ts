/** Every limit of the quarantine, with its unit last. */
export const quarantineLimits = Object.freeze({
  /** Default retention of an entry. */
  retentionMs: 2_592_000_000,
  pageEntriesMax: 100,
  pageEntriesDefault: 50,
  /** Keys read per step of the sweep. */
  sweepKeysMax: 1_000,
  /** A copy without an entry that is older than this belongs to a process that died. */
  unfinishedMs: 3_600_000,
  /** Rows read or written per batch. */
  rowsMax: 500,
  quadsMax: 500,
  entryBytesMax: 65_536,
  lineBytesMax: 67_108_864,
});
