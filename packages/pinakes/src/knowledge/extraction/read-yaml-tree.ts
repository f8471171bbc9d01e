import { isMap, isScalar, isSeq, type Node } from "yaml";
import type { TreeNode } from "./tree.ts";
import { extractionLimits } from "./limits.ts";

/**
 * Parses YAML to trees with offsets. Aliases are left out: their anchors state the same. `shift`: offset of the text in the document, for
 * front matter. Undefined if it is not YAML.
 */
export async function readYamlTrees(text: string, shift = 0): Promise<readonly TreeNode[] | undefined> {
  const { parseAllDocuments } = await import("yaml");
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent", strict: false });
  const list = Array.isArray(documents) ? documents : [];
  if (list.some(({ errors }) => errors.length > 0)) return undefined;
  return list.flatMap(({ contents }) => {
    const node = contents === null ? undefined : treeOf(contents, shift, 0);
    return node === undefined ? [] : [node];
  });
}

function treeOf(node: unknown, shift: number, depth: number): TreeNode | undefined {
  if (depth > extractionLimits.nestingLevelsMax) return undefined;
  const at = shift + ((node as Node | null)?.range?.[0] ?? 0);
  if (isMap(node)) {
    const entries = node.items.flatMap(({ key, value }): [string, TreeNode][] => {
      const child = treeOf(value, shift, depth + 1);
      return child === undefined || !isScalar(key) ? [] : [[String(key.value), child]];
    });
    return { kind: "object", at, entries };
  }
  if (isSeq(node)) {
    const items = node.items.flatMap((item) => {
      const child = treeOf(item, shift, depth + 1);
      return child === undefined ? [] : [child];
    });
    return { kind: "list", at, items };
  }
  if (!isScalar(node) || node.value === undefined) return undefined;
  const { value, source } = node;
  if (value === null) return { kind: "value", at, type: "null", text: "" };
  if (typeof value === "number" || typeof value === "bigint")
    return { kind: "value", at, type: "number", text: source ?? String(value) };
  if (typeof value === "boolean") return { kind: "value", at, type: "boolean", text: String(value) };
  return { kind: "value", at, type: "text", text: typeof value === "string" ? value : (source ?? "") };
}
