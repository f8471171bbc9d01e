/** Every limit of reading and writing RDF, with its unit last. */
export const rdfLimits = Object.freeze({
  /** An IRI, a label, or the words of a literal, as UTF-8. */
  termBytesMax: 32_768,
  /** A caller's own limit is not less: parsers have terms of their own. */
  termBytesMin: 256,
  /** Lists, blank nodes, graphs, elements or objects inside one another. */
  nestingLevelsMax: 128,
  /** What a parser holds before it knows where a term ends. Every character of a term may be written as an escape of ten. */
  tokenCharsMax: 10 * 32_768,
  /** Bytes that a parser is given before its quads are handed on. */
  sliceBytesMax: 16_384,
  batchQuadsMax: 1_000,
  prefixesMax: 10_000,
  /** Characters of quads for each byte read: prefixes, bases and entities stand for more than they are, but not for this much more. */
  expansionCharsPerByteMax: 128,
  /** Quads of a small document may be larger than that … */
  expansionFreeCharsMax: 1_048_576,
  /** … but never, before they are handed on, than this. */
  expansionCharsMax: 128 * 1_048_576,
  /** Entities of an RDF/XML document are there to shorten IRIs. */
  entityCharsMax: 1_024,
  entitiesMax: 256,
  doctypeCharsMax: 65_536,
  /** Of an RDF/XML document: each is remembered, so that none comes twice. */
  rdfIdsMax: 500_000,
  rdfIdCharsMax: 33_554_432,
  /** JSON-LD is parsed in pieces of about this size. */
  jsonldPieceCharsMin: 65_536,
  /** Where a context follows what it is about, the parser has to hold everything, and its time grows with the square of the length. */
  jsonldUnorderedCharsMax: 131_072,
  /** Its parser makes an IRI several times, and holds quads back: what it makes is counted too, more generously. */
  jsonldIriCharsPerCharMax: 512,
  /** In a document longer than this, what has to be known of a graph must stand before it. */
  jsonldHeldCharsMax: 1_048_576,
  /** One member of the outermost array, or of `@graph`. */
  jsonPartCharsMax: 4 * 1_048_576,
  blankPrefixCharsMax: 64,
});

/** What a caller may make smaller. */
export interface ReadLimits {
  readonly termBytesMax?: number;
  readonly nestingLevelsMax?: number;
}
