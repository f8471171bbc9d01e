export { type RdfFormat, rdfFormats, type RdfWriteFormat, formatOfContentType, formatOfFileName } from "./formats.ts";
export { parseTermParameter } from "./read/parse-term.ts";
export { readRdf } from "./read/read-rdf.ts";
export { writeRdf } from "./write/write-rdf.ts";
