/** Limits of the object store besides the key's (domain/limits.ts), unit last. Tests stand at each and one past it. */
export const objectLimits = Object.freeze({
  /** What S3 takes in one piece; a larger object is several objects and a manifest. */
  objectBytesMax: 5 * 1024 ** 3,
  /** What `get` puts into memory at once; `stream` has no such limit. */
  getBytesMax: 256 * 1024 ** 2,
  listKeysDefault: 1_000,
  listKeysMax: 1_000,
  deleteKeysMax: 1_000,
});
