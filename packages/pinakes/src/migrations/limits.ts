/** Every limit of migrations, with its unit last. */
export const migrationLimits = Object.freeze({
  /** Of one migration; a larger source is migrated in parts. */
  unitsMax: 10_000,
  /** Kept of each unit, and of the source as a whole; all are counted. */
  problemsMax: 20,
  /** Of a verification that failed: rows that are named. */
  differencesMax: 10,
  retainDaysDefault: 30,
  retainDaysMax: 3_650,
  /** Rows of one step of a copy, after which it says how far it is. */
  copyRowsMax: 2_000,
  copyCharsMax: 4_194_304,
  /** Characters of one line of a file, and of one cell of a table. */
  lineCharsMax: 8_388_608,
  sourceCharsMax: 16_384,
  leaseMs: 60_000,
  /** Work that takes longer says so this often. */
  beatMs: 15_000,
  /** After a failure, until the background tries again. */
  retryMs: 30_000,
  pageItemsMax: 100,
});
