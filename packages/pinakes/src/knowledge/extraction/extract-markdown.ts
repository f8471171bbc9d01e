/**
 * Triples of a Markdown page: the page is an entity, named by its file so that `[[Page]]` and `[words](page.md)` of other pages mean the
 * same one; front matter gives its properties, and links its relations.
 */
import { iri, type TermText } from "../../domain/rdf.ts";
import type { ParsedText } from "../../ports/parser.ts";
import type { Pause } from "../chunking/pause.ts";
import { extractObject } from "./extract-tree.ts";
import type { Facts } from "./facts.ts";
import { extractionLimits } from "./limits.ts";
import { isAbsoluteIri, skosAltLabel, stemOf, type Names } from "./names.ts";
import { readYamlTrees } from "./read-yaml-tree.ts";
import type { TreeObject } from "./tree.ts";
import { literal } from "../../domain/rdf.ts";

const frontMatter = /^---[ \t]*\n([\s\S]*?)^(?:---|\.\.\.)[ \t]*(?:\n|$)/m;
const links =
  /!?\[\[([^[\]\n|#]{1,200})(?:#[^[\]\n|]*)?(?:\|([^[\]\n]{1,200}))?\]\]|(!?)\[([^[\]\n]{1,200})\]\(<?([^()\s<>]{1,2000})>?(?:\s+"[^"\n]*")?\)/g;
const pauseEveryLinks = 1_000;

export interface PageWork {
  readonly parsed: ParsedText;
  /** Of the file. */
  readonly name: string;
  readonly facts: Facts;
  readonly names: Names;
  readonly pause: Pause;
}

export async function extractMarkdown(work: PageWork): Promise<void> {
  const { parsed, name, facts, names, pause } = work;
  const page = names.entity(stemOf(name));
  const matter = await frontMatterOf(parsed.text);
  if (matter !== undefined) await extractObject(matter.node, page, { facts, names, key: undefined, pause });
  if (matter !== undefined) addAliases(matter.node, page, facts);
  if (matter === undefined || !matter.node.entries.some(([key]) => /^(title|name)$/i.test(key))) {
    const [heading] = parsed.sections;
    facts.label(heading?.start ?? 0, page, heading?.path.at(-1) ?? stemOf(name));
  }
  // The page can be found by its file name, too.
  facts.findable(0, page, stemOf(name));
  let count = 0;
  for (const match of parsed.text.slice(matter?.end ?? 0).matchAll(links)) {
    if (facts.full) return;
    if (++count % pauseEveryLinks === 0) await pause();
    addLink(match, (matter?.end ?? 0) + match.index, page, work);
  }
}

function addLink(match: RegExpExecArray, at: number, page: TermText, { facts, names }: PageWork): void {
  const [, wiki, alias, image, words, target] = match;
  const property = names.property("links_to");
  if (wiki !== undefined) {
    const entity = names.entity(stemOf(wiki.trim()));
    facts.add(at, page, property, entity);
    facts.label(at, entity, stemOf(wiki.trim()));
    if (alias !== undefined) facts.findable(facts.passageAt(at), entity, alias.trim());
    return;
  }
  if (image === "!" || target === undefined || target.startsWith("#")) return;
  if (/^(https?|urn):/i.test(target)) {
    if (!isAbsoluteIri(target)) return;
    facts.add(at, page, property, iri(target));
    facts.findable(facts.passageAt(at), iri(target), words as string);
    return;
  }
  const file = /^(?:\.{0,2}\/)*([^:?#]+\.(?:md|markdown))(?:#.*)?$/i.exec(target)?.[1];
  if (file === undefined) return;
  const entity = names.entity(stemOf(decoded(file)));
  facts.add(at, page, property, entity);
  facts.findable(facts.passageAt(at), entity, words as string);
}

function addAliases(node: TreeObject, page: TermText, facts: Facts): void {
  const aliases = node.entries.find(([key]) => key.toLowerCase() === "aliases")?.[1];
  for (const alias of aliases?.kind === "list" ? aliases.items : []) {
    if (alias.kind !== "value" || alias.type !== "text" || alias.text.length > extractionLimits.labelCharsMax) continue;
    facts.add(alias.at, page, skosAltLabel, literal(alias.text));
    facts.findable(facts.passageAt(alias.at), page, alias.text);
  }
}

async function frontMatterOf(text: string): Promise<{ readonly node: TreeObject; readonly end: number } | undefined> {
  if (!text.startsWith("---")) return undefined;
  const match = frontMatter.exec(text.slice(0, extractionLimits.yamlCharsMax));
  if (match === null || match.index !== 0) return undefined;
  const yaml = match[1] as string;
  // Front matter that cannot be parsed is ordinary text: many files begin with a line of dashes.
  const [node] = (await readYamlTrees(yaml, text.indexOf("\n") + 1)) ?? [];
  return node?.kind === "object" ? { node, end: match[0].length } : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
