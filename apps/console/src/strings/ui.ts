export const uiStrings = {
  close: "Close",
  cancel: "Cancel",
  copy: "Copy",
  copied: "Copied",
  notCopied: "Copy failed; select the text and copy it manually",
  more: "More",
  rows: (shown: number, more: boolean) =>
    more ? `${shown} rows; scroll for more` : `${shown} ${shown === 1 ? "row" : "rows"}`,
  rowsCutOff: (shown: number) => `${shown} rows; loading more failed`,
  loadingMore: "Loading more …",
  sortBy: (column: string) => `Sort by ${column}`,
  typeToConfirm: (name: string) => `Type ${name} to confirm`,
  /** A personal repository of a user whose name is unknown. */
  personalOf: (begin: string) => `Personal ${begin}`,
  /** Within a few seconds, past or future. */
  now: "now",
  unsaved: {
    title: "Leave without saving?",
    about: "Unsaved changes will be lost.",
    stay: "Keep editing",
    leave: "Leave",
  },
  openRow: (name: string) => `Open ${name}`,
} as const;
