export { type RdfFormat, type RdfFormatInfo, rdfFormats, type RdfWriteFormat, formatOfContentType, formatOfFileName, negotiateFormat } from "./formats.ts";
export { rdfLimits, type ReadLimits } from "./limits.ts";
export { parseTermParameter } from "./parse-term.ts";
export { readRdf, type ReadRdfOptions } from "./read-rdf.ts";
export { writeRdf, type WriteRdfOptions } from "./write-rdf.ts";
