/** Limits of the audit log, each with its unit. */
export const auditLimits = Object.freeze({
  /** Also the width of a tile: a constant of the format. */
  bundleLeaves: 256,
  groupLeavesMax: 256,
  leafBytesMax: 4_096,
  idCharsMax: 200,
  idsMax: 12,
  /** Entries of a workspace that wait for a commit in this process; more are refused. */
  waitingMax: 20_000,
  commitAttemptsMax: 40,
  workspacesOpenMax: 1_000,
  subjectsCachedMax: 10_000,
  /** How long another process may still use a salt that was deleted. */
  subjectCachedMs: 300_000,
  pageEntriesDefault: 50,
  pageEntriesMax: 500,
  /** Bundles that a page examines before it ends with a cursor. */
  pageBundlesMax: 16,
  /** Allowed difference between the clocks of servers, when filtering by time. */
  clockSkewMs: 600_000,
  exportEntriesMax: 1_000_000,
  keysMax: 4,
});
