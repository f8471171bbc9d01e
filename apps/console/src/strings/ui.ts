export const uiStrings = {
  close: "Close",
  cancel: "Cancel",
  copy: "Copy",
  copied: "Copied",
  notCopied: "It could not be copied; mark it and copy it by hand",
  more: "More",
  rows: (shown: number, more: boolean) =>
    more ? `${shown} rows so far; more come as you scroll` : `${shown} ${shown === 1 ? "row" : "rows"}`,
  rowsCutOff: (shown: number) => `${shown} rows so far; the next ones could not be read`,
  loadingMore: "Loading more …",
  sortBy: (column: string) => `Sort by ${column}`,
  typeToConfirm: (name: string) => `Type ${name} to confirm`,
  /** Of somebody whose name is not known here. */
  personalOf: (begin: string) => `Personal ${begin}`,
  /** Less than some seconds ago, or in as many. */
  now: "now",
  unsaved: {
    title: "Leave without saving?",
    about: "What you typed here is not saved and would be lost.",
    stay: "Keep editing",
    leave: "Leave",
  },
  openRow: (name: string) => `Open ${name}`,
} as const;
