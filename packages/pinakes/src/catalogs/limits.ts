/** Limits of the catalog contract, which are fixed regardless of the server's quotas. */
export const catalogLimits = Object.freeze({
  fileBytesMax: 52_428_800,
  /** Base64 of a file of `fileBytesMax`. */
  fileContentCharsMax: Math.ceil(52_428_800 / 3) * 4,
  sourceTextCharsMax: 500,
  resultsDefault: 5,
  resultsMax: 20,
  linkSeconds: 900,
  /** How long a delete waits for its purge before it responds that the purge continues. */
  deleteWaitMsMax: 20_000,
  sessionIdCharsMax: 256,
  /** A selection expires when its session has not used it for this long. */
  selectionIdleSeconds: 86_400,
});

export const catalogFileTypes = ["pdf", "docx", "txt", "md", "csv"] as const;
