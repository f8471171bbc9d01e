/** All limits of sockets, with the unit last. */
export const socketLimits = Object.freeze({
  /** The limit of TrustGraph's gateway; a larger frame closes the socket (1009). */
  frameBytesMax: 52_428_800,
  socketsMax: 1_000,
  socketsPerUserMax: 64,
  /** Concurrent requests per socket; further frames wait unread. */
  requestsAtOnce: 8,
  /** Frames of an import that are read ahead of the one being stored. */
  framesWaitingMax: 2,
  firstFrameMsMax: 20_000,
  pingEveryMs: 30_000,
  /** An export whose reader is further behind is closed (1013). */
  unreadBytesMax: 52_428_800,
  jsonDepthMax: 64,
  closeReasonBytesMax: 120,
});
