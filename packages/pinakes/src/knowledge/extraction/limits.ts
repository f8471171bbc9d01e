/** Every limit of what is made of documents for the graph, with its unit last. */
export const extractionLimits = Object.freeze({
  /** Of one document, each counted for every passage that states it. What is beyond is not stored, and the document says so. */
  triplesMax: 200_000,
  /** A longer value is prose: its words are found in the passages. */
  valueCharsMax: 2_000,
  labelCharsMax: 200,
  /** Words of a label that are found one by one. */
  labelWordsMax: 8,
  slugCharsMax: 120,
  /** Objects inside one another; deeper ones are left out. */
  nestingLevelsMax: 32,
  jsonCharsMax: 16_777_216,
  /** The parser of YAML keeps the whole file as a tree. */
  yamlCharsMax: 1_048_576,
  keyCharsMax: 200,
  /** Names that are joined with one another within a passage: so many make n · (n − 1) / 2 triples. */
  phrasesPerPassageMax: 12,
  phraseWordsMax: 5,
  /** Entities and relations that are taken from one answer of a model. */
  factsPerPassageMax: 64,
  /** Of a passage that a model is given. */
  passageCharsMax: 16_000,
});
