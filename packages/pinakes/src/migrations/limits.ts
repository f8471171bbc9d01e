/** All limits of migrations, with the unit last. */
export const migrationLimits = Object.freeze({
  /** Per migration; a larger source is migrated in parts. */
  unitsMax: 10_000,
  /** Warnings stored per unit and for the whole source; all are counted. */
  problemsMax: 20,
  /** Rows listed by a failed verification. */
  differencesMax: 10,
  retainDaysDefault: 30,
  retainDaysMax: 3_650,
  /** Rows per copy step, after which progress is recorded. */
  copyRowsMax: 2_000,
  copyCharsMax: 4_194_304,
  /** Maximum characters in a line of a file or a table cell. */
  lineCharsMax: 8_388_608,
  sourceCharsMax: 16_384,
  leaseMs: 60_000,
  /** Heartbeat interval of long work. */
  beatMs: 15_000,
  /** Delay after a failure until the background retries. */
  retryMs: 30_000,
  pageItemsMax: 100,
});
