/** Every limit of the triple stores, with its unit last. The conformance suite stands at each and one past it. */
export const tripleLimits = Object.freeze({
  spaceNameCharsMax: 128,
  /** Of a term's text in UTF-8, brackets and quotes included. */
  termBytesMax: 32_768,
  sourceBytesMax: 256,
  partMax: 2_147_483_647,
  /** Inserted and removed, together. */
  writeQuadsMax: 50_000,
  /** Of the texts of a write's distinct terms. */
  writeCharsMax: 33_554_432,
  pageQuadsDefault: 1_000,
  pageQuadsMax: 10_000,
  /** A page ends early, with a cursor, when it holds so many characters. */
  pageCharsMax: 16_777_216,
  pageGraphsMax: 1_000,
  pageSpacesMax: 1_000,
  /** Of one call of `supports` or `asserted`. */
  supportsQuadsMax: 1_000,
  mayUseTermsMax: 1_000,
  /** So many supports of one quad are told, at most. */
  supportsOfQuadMax: 1_000,
  /** Of all quads on a page of `ofSource` together. */
  sourcePageSupportsMax: 10_000,
  /** What one step of `ofSource` reads: the texts of so many quads are in memory at once. */
  sourceStepRowsMax: 500,
  /** What it reads at least, to find the end of the last quad's parts: so many may be looked at in vain. */
  sourceStepRowsMin: 64,
  purgeRowsDefault: 10_000,
  purgeRowsMax: 100_000,
  /** What one step of removeSource looks at. */
  removeSourceRowsMax: 10_000,
});
