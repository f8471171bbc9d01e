/** All limits for reading and writing RDF, with the unit last. */
export const rdfLimits = Object.freeze({
  /** UTF-8 bytes of an IRI, a label, or the lexical form of a literal. */
  termBytesMax: 32_768,
  /** Minimum for a caller's own limit: parsers use terms of their own. */
  termBytesMin: 256,
  /** Nesting of lists, blank nodes, graphs, elements or objects. */
  nestingLevelsMax: 128,
  /** Characters a parser buffers before it finds the end of a term. Every character of a term may be written as an escape of ten. */
  tokenCharsMax: 10 * 32_768,
  /** Bytes passed to a parser before its quads are taken. */
  sliceBytesMax: 16_384,
  batchQuadsMax: 1_000,
  prefixesMax: 10_000,
  /** Maximum ratio of characters in quads to bytes read: prefixes, bases and entities expand, but not by more than this. */
  expansionCharsPerByteMax: 128,
  /** Quads of a small document may exceed that ratio … */
  expansionFreeCharsMax: 1_048_576,
  /** … up to this total before they are taken. */
  expansionCharsMax: 128 * 1_048_576,
  /** Entities of an RDF/XML document; they exist to abbreviate IRIs. */
  entityCharsMax: 1_024,
  entitiesMax: 256,
  doctypeCharsMax: 65_536,
  /** rdf:IDs of an RDF/XML document: all are remembered, to detect duplicates. */
  rdfIdsMax: 500_000,
  rdfIdCharsMax: 33_554_432,
  /** JSON-LD is parsed in parts of about this size. */
  jsonldPieceCharsMin: 65_536,
  /** If a context follows its content, the parser must buffer everything, and its time grows with the square of the length. */
  jsonldUnorderedCharsMax: 131_072,
  /** The parser creates an IRI several times and buffers quads, so its own allocations are counted too, with a larger limit. */
  jsonldIriCharsPerCharMax: 512,
  /** In a longer document, the context and name of a graph must come before its content. */
  jsonldHeldCharsMax: 1_048_576,
  /** One element of the outermost array or of `@graph`. */
  jsonPartCharsMax: 4 * 1_048_576,
  blankPrefixCharsMax: 64,
});

/** Limits that a caller may lower. */
export interface ReadLimits {
  readonly termBytesMax?: number;
  readonly nestingLevelsMax?: number;
}
