/**
 * Triples of JSON and YAML: an object is an entity, its keys are properties, a nested object is an entity of its own that it refers to. A
 * list states its property once per item.
 */
import { iri, type TermText } from "../../domain/rdf.ts";
import type { Pause } from "../chunking/pause.ts";
import type { Facts } from "./facts.ts";
import { extractionLimits } from "./limits.ts";
import { isAbsoluteIri, rdfType, type Names } from "./names.ts";
import type { TreeNode, TreeObject, TreeValue } from "./tree.ts";
import { numberOf, truthOf, valueOfWords } from "./values.ts";

/** Fields that hold an entity's name, case-insensitive. */
export const nameFields: readonly string[] = ["name", "title", "label", "full_name", "fullname", "display_name"];
const idFields: readonly string[] = ["@id", "id", "_id", "uuid"];
const pauseEveryObjects = 1_000;

export interface TreeWork {
  readonly facts: Facts;
  readonly names: Names;
  /** The field whose value names an object, across all documents. */
  readonly key: string | undefined;
  readonly pause: Pause;
}

export async function extractTrees(roots: readonly TreeNode[], work: TreeWork): Promise<void> {
  const walk = new Walk(work);
  for (const [i, root] of roots.entries()) {
    if (root.kind === "object") await walk.object(root, roots.length > 1 ? [`[${i}]`] : []);
    else if (root.kind === "list")
      for (const [j, item] of root.items.entries())
        if (item.kind === "object") await walk.object(item, roots.length > 1 ? [`[${i}]`, `[${j}]`] : [`[${j}]`]);
  }
}

/** Extracts one object whose entity is already known. */
export async function extractObject(node: TreeObject, entity: TermText, work: TreeWork): Promise<void> {
  await new Walk(work).object(node, [], entity);
}

class Walk {
  readonly #work: TreeWork;
  #objects = 0;

  constructor(work: TreeWork) {
    this.#work = work;
  }

  async object(node: TreeObject, path: readonly string[], known?: TermText): Promise<TermText> {
    const { facts, pause } = this.#work;
    if (++this.#objects % pauseEveryObjects === 0) await pause();
    const entity = known ?? this.#entity(node, path);
    for (const [key, child] of node.entries) {
      if (facts.full) return entity;
      if (key === "@context" || key === "@id") continue;
      await this.#property(entity, key, child, path);
    }
    const name = nameFields.map((field) => textField(node, field)).find((value) => value !== undefined);
    if (name !== undefined) facts.label(name.at, entity, name.text);
    return entity;
  }

  async #property(entity: TermText, key: string, node: TreeNode, path: readonly string[]): Promise<void> {
    if (
      key.trim() === "" ||
      key.length > extractionLimits.keyCharsMax ||
      path.length > extractionLimits.nestingLevelsMax
    )
      return;
    if (node.kind === "list") {
      for (const [i, item] of node.items.entries())
        if (item.kind !== "list") await this.#one(entity, key, item, [...path, key, `[${i}]`]);
      return;
    }
    await this.#one(entity, key, node, [...path, key]);
  }

  async #one(entity: TermText, key: string, node: TreeObject | TreeValue, path: readonly string[]): Promise<void> {
    const { facts, names } = this.#work;
    if (node.kind === "object") {
      const child = await this.object(node, path);
      facts.add(node.at, entity, names.property(key), child);
      return;
    }
    if (key === "@type") {
      if (node.type === "text")
        facts.add(node.at, entity, rdfType, isAbsoluteIri(node.text) ? iri(node.text) : names.kind(node.text));
      return;
    }
    const value = valueOf(node);
    if (value !== undefined) facts.add(node.at, entity, names.property(key), value);
  }

  /** By its own IRI, by the configured key, by its id within this document, or by its path. */
  #entity(node: TreeObject, path: readonly string[]): TermText {
    const { names, key } = this.#work;
    const chosen = key === undefined ? undefined : scalarField(node, key);
    if (chosen !== undefined) return isAbsoluteIri(chosen.text) ? iri(chosen.text) : names.entity(chosen.text);
    const id = idFields.map((field) => scalarField(node, field)).find((value) => value !== undefined);
    if (id === undefined) return names.record("path", ...path);
    if (id.type === "text" && /^(https?|urn):/i.test(id.text) && isAbsoluteIri(id.text)) return iri(id.text);
    return names.record("id", ...path.filter((part) => !part.startsWith("[")), id.text);
  }
}

function valueOf({ type, text }: TreeValue): TermText | undefined {
  if (type === "null") return undefined;
  if (type === "text") return valueOfWords(text);
  return type === "boolean" ? truthOf(text) : (numberOf(text) ?? valueOfWords(text));
}

function scalarField(node: TreeObject, field: string): TreeValue | undefined {
  const found = node.entries.find(([key]) => key.toLowerCase() === field.toLowerCase())?.[1];
  return found?.kind === "value" && found.type !== "null" && found.text.trim() !== "" ? found : undefined;
}

function textField(node: TreeObject, field: string): TreeValue | undefined {
  const found = scalarField(node, field);
  return found?.type === "text" ? found : undefined;
}
