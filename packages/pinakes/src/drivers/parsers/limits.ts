/** Every limit of the parsers, with its unit in the name. Tests stand at each and one past it. */
export const parserLimits = Object.freeze({
  /** What a parse may take before its thread is ended. 10,000 pages take about ten seconds. */
  parseMsDefault: 300_000,
  /** A file has this much, and so much more for each megabyte, up to the most: the slowest honest files take a tenth of it. */
  parseMsLeast: 60_000,
  parseMsPerMb: 90_000,
  /** Of the thread's heap, and again of the buffers beside it. */
  memoryMbDefault: 1_024,
  threadsMax: 16,
  /** Files that wait for a thread; their bytes are in memory meanwhile. */
  queuedParsesMax: 1_000,
  textCharsMax: 50_000_000,
  pdfPagesMax: 20_000,
  /** All parts of a document that are read, once inflated: many times the text in it, since markup is most of it. */
  docxInflatedBytesMax: 256 * 1024 ** 2,
  zipEntriesMax: 10_000,
  sectionsMax: 100_000,
  rowsMax: 2_000_000,
  headingCharsMax: 300,
  /** Elements of HTML inside each other; browsers stop at 512. */
  htmlLevelsMax: 5_000,
  /** How much of an element's path names a section of an XML file. */
  xmlPathNamesMax: 8,
  /** Deeper levels of JSON are not indented further, or the spaces would outgrow the text. */
  jsonIndentLevelsMax: 20,
  /** Values that the aliases of a YAML file stand for, once all of them are written out. */
  yamlRepeatedValuesMax: 1_000_000,
});
