/** Every limit of the library, with its unit last. */
export const libraryLimits = Object.freeze({
  idCharsMax: 1_024,
  titleCharsMax: 1_000,
  commentsCharsMax: 20_000,
  tagsMax: 50,
  tagCharsMax: 200,
  /** Triples about a document. */
  metadataTriplesMax: 1_000,
  metadataCharsMax: 500_000,
  /** Records of one list. */
  listedMax: 10_000,
  recordsPerRead: 500,
  chunkBytesDefault: 5_242_880,
  /** What is known of an upload after it has ended. */
  uploadKeptSeconds: 86_400,
});
