/** Limits of imports and exports, with their unit last. */
export const transferLimits = Object.freeze({
  /** One line of a table; DynamoDB's JSON is several times as long as the item. */
  lineBytesMax: 4_194_304,
  /** An item as plain JSON: DynamoDB's own limit. */
  itemBytesMax: 409_600,
  /** A decompressed table file. */
  tableBytesMax: 16 * 1024 ** 3,
  /** Files per import. */
  filesMax: 2_000_000,
  sidecarBytesMax: 65_536,
  /** Problems and warnings named in a report; the rest is counted. */
  notesMax: 1_000,
  /** A user id, as `makeCaller` accepts it. */
  userIdCharsMax: 256,
});
