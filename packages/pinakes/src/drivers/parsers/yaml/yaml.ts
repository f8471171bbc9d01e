/** YAML: the text is the source itself; sections are the keys (or indexes) of the top level, under the document where there are several. */
import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Document,
  type ParsedNode,
} from "yaml";
import { invalid } from "../../../domain/errors.ts";
import type { ParsedText } from "../../../ports/parser.ts";
import { parserLimits } from "../limits.ts";
import { Sections, headingText } from "../sections.ts";

export function parseYaml(
  text: string,
  { yamlRepeatedValuesMax }: { readonly yamlRepeatedValuesMax: number } = parserLimits,
): ParsedText {
  // Duplicate keys are accepted: finding them takes quadratic time.
  const documents = parseAllDocuments(text, {
    uniqueKeys: false,
    logLevel: "silent",
    strict: false,
    prettyErrors: true,
  });
  const list: readonly Document.Parsed[] = Array.isArray(documents) ? documents : [];
  const sections = new Sections();
  for (const [i, document] of list.entries()) {
    refuseErrors(document);
    new RepeatedValues(yamlRepeatedValuesMax).sizeOf(document.contents);
    addSections(sections, document.contents, list.length > 1 ? [`document ${i + 1}`] : [], text.length);
  }
  const warnings: string[] = [];
  return { text, pages: [], sections: sections.finish(warnings), rows: [], warnings };
}

function refuseErrors(document: Document.Parsed): void {
  const [error] = document.errors;
  if (error === undefined) return;
  // The library reports excessive depth as an error of the file; the caller has a better message.
  if (error.message.includes("call stack")) throw new RangeError(error.message, { cause: error });
  const place = error.linePos?.[0];
  const where = place === undefined ? "" : `line ${place.line}, column ${place.col}: `;
  const what = (error.message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
  throw invalid(`The file is not valid YAML: ${where}${what}. Correct it, or upload the file as .txt.`);
}

/**
 * We never expand aliases, but the next reader of the file may; one that means gigabytes is an attack or a mistake. So this counts what
 * they expand to: the size of an anchor's value is known at its first alias.
 */
class RepeatedValues {
  readonly #sizes = new Map<string, number>();
  readonly #max: number;
  #repeated = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Values in a node, itself included, with aliases expanded. */
  sizeOf(node: unknown): number {
    if (isAlias(node)) return this.#repeat(node.source);
    if (isPair(node)) return this.sizeOf(node.key) + this.sizeOf(node.value);
    if (!isScalar(node) && !isCollection(node)) return 0;
    // Counts as one inside itself, if an alias makes a cycle.
    if (node.anchor !== undefined) this.#sizes.set(node.anchor, 1);
    let size = 1;
    if (isCollection(node)) for (const item of node.items) size += this.sizeOf(item);
    if (node.anchor !== undefined) this.#sizes.set(node.anchor, size);
    return size;
  }

  #repeat(anchor: string): number {
    const size = this.#sizes.get(anchor);
    if (size === undefined)
      throw invalid(
        `The file is not valid YAML: *${anchor} refers to nothing, there is no &${anchor} before it. Correct it, or upload the file as .txt.`,
      );
    this.#repeated += size;
    if (this.#repeated > this.#max)
      throw invalid(
        `The aliases of the file (*name) expand to more than ${this.#max.toLocaleString("en-US")} values; write it with fewer aliases.`,
      );
    return size;
  }
}

function addSections(sections: Sections, node: ParsedNode | null, above: readonly string[], textChars: number): void {
  const add = (part: ParsedNode, path: readonly string[]) => {
    // An omitted value may be after the last character, where there is nothing to cite.
    if (part.range[0] < textChars) sections.add(part.range[0], path);
  };
  if (isMap(node)) for (const { key } of node.items) add(key, [...above, keyText(key)]);
  else if (isSeq(node)) for (const [i, item] of node.items.entries()) add(item, [...above, `[${i}]`]);
  else if (node !== null && above.length > 0) add(node, above);
}

function keyText(key: ParsedNode): string {
  if (isScalar(key)) return headingText(String(key.value));
  return isAlias(key) ? `*${key.source}` : "(key)";
}
