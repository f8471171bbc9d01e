export { type RdfFormat, rdfFormats, type RdfWriteFormat, formatOfContentType, formatOfFileName } from "./formats.ts";
export { parseTermParameter } from "./parse-term.ts";
export { readRdf } from "./read-rdf.ts";
export { writeRdf } from "./write-rdf.ts";
