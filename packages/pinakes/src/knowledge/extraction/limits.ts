/** Every limit of graph extraction, with its unit last. */
export const extractionLimits = Object.freeze({
  /**
   * Per document, counting each triple once per chunk that states it. Triples beyond the limit are not stored, and the document has a
   * warning.
   */
  triplesMax: 200_000,
  /** A longer value is prose: search finds its words in the chunks. */
  valueCharsMax: 2_000,
  labelCharsMax: 200,
  /** Words of a label that are indexed individually. */
  labelWordsMax: 8,
  slugCharsMax: 120,
  /** Nesting depth of objects; deeper ones are left out. */
  nestingLevelsMax: 32,
  jsonCharsMax: 16_777_216,
  /** The YAML parser holds the whole file as a tree. */
  yamlCharsMax: 1_048_576,
  keyCharsMax: 200,
  /** Names related with each other within a chunk: n names give n · (n − 1) / 2 triples. */
  phrasesPerPassageMax: 12,
  phraseWordsMax: 5,
  /** Entities, and relations, taken from one answer of a model. */
  factsPerPassageMax: 64,
  /** Characters of a chunk that are sent to a model. */
  passageCharsMax: 16_000,
});
