/** Every limit of sockets, with its unit last. */
export const socketLimits = Object.freeze({
  /** As TrustGraph's gateway takes; a larger one closes the socket (1009). */
  frameBytesMax: 52_428_800,
  socketsMax: 1_000,
  socketsPerUserMax: 64,
  /** Requests of one socket that are answered at the same time; others wait unread. */
  requestsAtOnce: 8,
  /** Frames of an import that are read ahead of the one that is being stored. */
  framesWaitingMax: 2,
  firstFrameMsMax: 20_000,
  pingEveryMs: 30_000,
  /** An export whose reader is so far behind is closed (1013). */
  unreadBytesMax: 52_428_800,
  jsonDepthMax: 64,
  closeReasonBytesMax: 120,
});
