/** Every limit of governance; each name ends with its unit. */
export const governanceLimits = Object.freeze({
  subjectIdCharsMax: 1_024,
  documentIdsMax: 100,
  pathsMax: 20,
  pathCharsMax: 200,
  workspacesMax: 100,
  reasonCharsMax: 1_000,
  holdsMax: 100,
  /** Rows that one step removes: their keys are recorded before. */
  rowsPerStep: 250,
  /** Ids of linked sessions and workflows in one item. */
  linksPerItem: 1_000,
  /** How late another process sees a fence or a hold. */
  fenceMsDefault: 2_000,
  pageItemsMax: 100,
  /** An archive of a subject's data is continued in another part after this. */
  exportPartBytesMax: 1_073_741_824,
  exportDays: 7,
  trashDaysMax: 36_500,
  confirmationSeconds: 3_600,
  exportsPerWorkspaceMax: 20,
});
