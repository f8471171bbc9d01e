/** Every limit of pipelines, with its unit last. Pipelines per collection are limited with the other limits of collections. */
export const pipelineLimits = Object.freeze({
  /** A source with more files is refused as a whole: reading half of it would look like deleted files. */
  sourceFilesMax: 200_000,
  folderDepthMax: 64,
  scheduleCharsMax: 100,
  /** Files per call or message. */
  changedFilesMax: 1_000,
  /** Names of each kind in a plan. */
  planNamesMax: 1_000,
  /** Files named in a run's result. */
  resultFilesMax: 100,
  /** Below this number of documents every share may be removed. */
  guardDocumentsMin: 10,
  removalShareDefault: 0.5,
  filesAtOnceMax: 4,
  fileTriesMax: 3,
  /** Of the file that says who may see another. */
  sidecarBytesMax: 65_536,
});
