/** Extracts a document's triples for the graph of its collection, by the chunk that states them. Deterministic. */
import type { Chunk } from "../../domain/chunking.ts";
import type { FileType } from "../../domain/file-type.ts";
import { type Quad, defaultGraph } from "../../domain/rdf.ts";
import type { ParsedText } from "../../ports/parser.ts";
import type { RdfFormat } from "../../rdf/index.ts";
import { pauses, type Pause } from "../chunking/pause.ts";
import { extractMarkdown } from "./extract-markdown.ts";
import { phraseRules, phrasesOf } from "./phrases.ts";
import { extractRdf } from "./extract-rdf.ts";
import { extractTable } from "./extract-table.ts";
import { extractTrees } from "./extract-tree.ts";
import { Facts } from "./facts.ts";
import type { GraphSettings } from "./graph-settings.ts";
import { extractionLimits } from "./limits.ts";
import { Names, stemOf } from "./names.ts";
import { readJsonTrees } from "./read-json-tree.ts";
import { readYamlTrees } from "./read-yaml-tree.ts";

export interface ExtractionInput {
  readonly collection: { readonly repository_id: string; readonly collection_id: string };
  readonly document: { readonly document_id: string; readonly name: string; readonly file_type: FileType };
  readonly parsed: ParsedText;
  readonly chunks: readonly Chunk[];
  readonly settings: GraphSettings;
  readonly signal: AbortSignal;
  /** Adds facts found by a model. */
  readonly model?: ((facts: Facts, names: Names) => Promise<void>) | undefined;
}

export interface Extraction {
  /** Number of triples, without the labels used to find entities. */
  readonly triples: number;
  readonly parts: ReadonlyMap<number, readonly Quad[]>;
  readonly warnings: readonly string[];
}

const rdfFormatOf: Partial<Record<FileType, RdfFormat>> = {
  ttl: "turtle",
  nt: "ntriples",
  nq: "nquads",
  trig: "trig",
  jsonld: "jsonld",
  rdf: "rdfxml",
};

export async function extractDocument(input: ExtractionInput): Promise<Extraction> {
  const { collection, document, chunks, settings, signal } = input;
  const facts = new Facts(chunks);
  if (settings.extract === "off") return { triples: 0, parts: new Map(), warnings: [] };
  const names = new Names(collection, document.document_id);
  await extractStructure(input, facts, names);
  if (settings.extract === "cooccurrence" && isProse(document.file_type))
    await extractPhrases(chunks, facts, names, pauses(signal));
  await input.model?.(facts, names);
  return { triples: facts.triples, parts: facts.parts, warnings: facts.warnings };
}

/** Whether chunks are sentences; data is described by its structure alone. */
export function isProse(fileType: FileType): boolean {
  return !["csv", "json", "yaml", "xml"].includes(fileType) && rdfFormatOf[fileType] === undefined;
}

async function extractStructure(input: ExtractionInput, facts: Facts, names: Names): Promise<void> {
  const { document, parsed, chunks, settings } = input;
  const { key } = settings;
  const pause = pauses(input.signal);
  const { text } = parsed;
  const format = rdfFormatOf[document.file_type];
  if (format !== undefined) return extractRdf({ text, chunks, format, documentId: document.document_id, facts, pause });
  switch (document.file_type) {
    case "csv":
      return extractTable({ parsed, facts, names, kind: stemOf(document.name), key, pause });
    case "md":
      return extractMarkdown({ parsed, name: document.name, facts, names, pause });
    case "json":
      if (tooLong(text, extractionLimits.jsonCharsMax, facts)) return;
      return extractTrees(await readJsonTrees(text, pause), { facts, names, key, pause });
    case "yaml":
      if (tooLong(text, extractionLimits.yamlCharsMax, facts)) return;
      return extractTrees((await readYamlTrees(text)) ?? [], { facts, names, key, pause });
    default:
      return undefined;
  }
}

function tooLong(text: string, charsMax: number, facts: Facts): boolean {
  if (text.length <= charsMax) return false;
  facts.warnings.push(
    `Files of this type with more than ${charsMax.toLocaleString("en-US")} characters give no triples; split the file.`,
  );
  return true;
}

const pauseEveryPassages = 50;

/** Relates names that occur in the same chunk: the relation is unspecified, only that the chunk mentions both. */
async function extractPhrases(chunks: readonly Chunk[], facts: Facts, names: Names, pause: Pause): Promise<void> {
  const rules = phraseRules(chunks.map(({ text }) => text));
  const joined = names.property("occurs_with");
  for (const { index, text } of chunks) {
    if (facts.full) return;
    if (index % pauseEveryPassages === 0) await pause();
    const phrases = phrasesOf(text, rules);
    // A single name relates to nothing, but can be found.
    const entities = [...new Set(phrases.map((phrase) => names.entity(phrase)))];
    for (const phrase of phrases) facts.labelIn(index, names.entity(phrase), phrase);
    for (const [i, one] of entities.entries())
      for (const other of entities.slice(i + 1)) {
        const [s, o] = one < other ? [one, other] : [other, one];
        facts.addTo(index, { s, p: joined, o, g: defaultGraph });
      }
  }
}
