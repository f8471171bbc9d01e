/** Every limit of the parsers, with its unit in the name. Tests check each limit and one past it. */
export const parserLimits = Object.freeze({
  /** The time of a parse before its thread is terminated. 10,000 pages take about ten seconds. */
  parseMsDefault: 300_000,
  /** The base time of a file, and the time per megabyte, up to the maximum: the slowest legitimate files take a tenth of it. */
  parseMsLeast: 60_000,
  parseMsPerMb: 90_000,
  /** For the thread's heap, and again for its buffers. */
  memoryMbDefault: 1_024,
  threadsMax: 16,
  /** Files that wait for a thread; their bytes are in memory. */
  queuedParsesMax: 1_000,
  textCharsMax: 50_000_000,
  pdfPagesMax: 20_000,
  /** All parts of a document that are read, once inflated: many times its text, since markup is most of it. */
  docxInflatedBytesMax: 256 * 1024 ** 2,
  zipEntriesMax: 10_000,
  sectionsMax: 100_000,
  rowsMax: 2_000_000,
  headingCharsMax: 300,
  /** Nested elements of HTML; browsers stop at 512. */
  htmlLevelsMax: 5_000,
  /** How much of an element's path names a section of an XML file. */
  xmlPathNamesMax: 8,
  /** Deeper levels of JSON are not indented further, or the spaces would outgrow the text. */
  jsonIndentLevelsMax: 20,
  /** Number of values that the aliases of a YAML file expand to. */
  yamlRepeatedValuesMax: 1_000_000,
});
