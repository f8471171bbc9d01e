/** Every limit of pipelines, with its unit last. How many a collection may have is with the other limits of collections. */
export const pipelineLimits = Object.freeze({
  /** A source with more files is refused as a whole: half of one would look like files that are gone. */
  sourceFilesMax: 200_000,
  folderDepthMax: 64,
  scheduleCharsMax: 100,
  /** Files that one call or message may name. */
  changedFilesMax: 1_000,
  /** Names of each kind that a plan shows. */
  planNamesMax: 1_000,
  /** Files that a run's result names. */
  resultFilesMax: 100,
  /** Below so many documents no share is too large to be removed. */
  guardDocumentsMin: 10,
  removalShareDefault: 0.5,
  filesAtOnceMax: 4,
  fileTriesMax: 3,
});
