/** Limits of imports and exports, with their unit last. */
export const transferLimits = Object.freeze({
  /** One line of a table; DynamoDB's JSON of an item is several times as long as the item. */
  lineBytesMax: 4_194_304,
  /** An item as plain JSON: what DynamoDB itself keeps at most. */
  itemBytesMax: 409_600,
  /** A table's file, unpacked. */
  tableBytesMax: 16 * 1024 ** 3,
  /** Files of one import. */
  filesMax: 2_000_000,
  sidecarBytesMax: 65_536,
  /** Problems and warnings that a report names; the rest is counted. */
  notesMax: 1_000,
  /** A user's id, as `makeCaller` takes it. */
  userIdCharsMax: 256,
});
