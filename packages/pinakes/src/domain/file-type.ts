/** The file types that Pinakes can read, and how to detect them from a name. */
export const fileTypes = [
  "pdf",
  "docx",
  "txt",
  "md",
  "csv",
  "html",
  "json",
  "xml",
  "yaml",
  "rtf",
  "log",
  "ttl",
  "nt",
  "nq",
  "trig",
  "jsonld",
  "rdf",
] as const;
export type FileType = (typeof fileTypes)[number];

const extensions: Readonly<Record<string, FileType>> = {
  ...Object.fromEntries(fileTypes.map((type) => [type, type])),
  docm: "docx",
  text: "txt",
  markdown: "md",
  mdown: "md",
  htm: "html",
  xhtml: "html",
  jsonl: "json",
  ndjson: "json",
  yml: "yaml",
  tsv: "csv",
  owl: "rdf",
  rdfs: "rdf",
};

/** By file extension, ignoring case. */
export function fileTypeOf(name: string): FileType | undefined {
  const extension = /[^/\\]\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  return extension !== undefined && Object.hasOwn(extensions, extension) ? extensions[extension] : undefined;
}
