export const uiStrings = {
  close: "Close",
  cancel: "Cancel",
  copy: "Copy",
  copied: "Copied",
  more: "More",
  rows: (shown: number, more: boolean) => (more ? `${shown} rows so far; more come as you scroll` : `${shown} ${shown === 1 ? "row" : "rows"}`),
  loadingMore: "Loading more …",
  sortBy: (column: string) => `Sort by ${column}`,
  typeToConfirm: (name: string) => `Type ${name} to confirm`,
  /** Of somebody whose name is not known here. */
  personalOf: (begin: string) => `Personal ${begin}`,
  openRow: (name: string) => `Open ${name}`,
} as const;
