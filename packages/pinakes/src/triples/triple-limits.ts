/** Every limit of the triple stores; each name ends with its unit. The conformance suite checks each limit and one past it. */
export const tripleLimits = Object.freeze({
  spaceNameCharsMax: 128,
  /** UTF-8 bytes of a term's text, including brackets and quotes. */
  termBytesMax: 32_768,
  sourceBytesMax: 256,
  partMax: 2_147_483_647,
  /** Insertions and removals together. */
  writeQuadsMax: 50_000,
  /** Total characters of the distinct terms of a write. */
  writeCharsMax: 33_554_432,
  pageQuadsDefault: 1_000,
  pageQuadsMax: 10_000,
  /** A page ends early, with a cursor, once its terms have this many characters. */
  pageCharsMax: 16_777_216,
  pageGraphsMax: 1_000,
  pageSpacesMax: 1_000,
  /** Quads per call of `supports` or `asserted`. */
  supportsQuadsMax: 1_000,
  mayUseTermsMax: 1_000,
  /** Maximum number of supports returned per quad. */
  supportsOfQuadMax: 1_000,
  /** Total supports of all quads on a page of `ofSource`. */
  sourcePageSupportsMax: 10_000,
  /** Maximum rows that one step of `ofSource` reads: the texts of this many quads are in memory at once. */
  sourceStepRowsMax: 500,
  /** Minimum rows it reads, to find the end of the last quad's parts: up to this many may be read for nothing. */
  sourceStepRowsMin: 64,
  purgeRowsDefault: 10_000,
  purgeRowsMax: 100_000,
  /** Rows that one step of removeSource reads. */
  removeSourceRowsMax: 10_000,
});
