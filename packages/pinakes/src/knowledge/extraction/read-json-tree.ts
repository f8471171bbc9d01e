/** Parses JSON, or JSON lines, to trees with offsets. The parser of files has already validated the text. */
import { invariant } from "../../domain/invariant.ts";
import type { Pause } from "../chunking/pause.ts";
import type { TreeNode } from "./tree.ts";

interface Open {
  readonly kind: "object" | "list";
  readonly at: number;
  readonly entries: [string, TreeNode][];
  readonly items: TreeNode[];
  key: string | undefined;
}

const blank = /[\s,:]*/y;
const word = /[^\s,:{}[\]"]+/y;
const pauseEveryTokens = 20_000;

export async function readJsonTrees(text: string, pause: Pause): Promise<readonly TreeNode[]> {
  const roots: TreeNode[] = [];
  const open: Open[] = [];
  const put = (node: TreeNode): void => {
    const parent = open.at(-1);
    if (parent === undefined) roots.push(node);
    else if (parent.kind === "list") parent.items.push(node);
    else {
      parent.entries.push([parent.key as string, node]);
      parent.key = undefined;
    }
  };
  let tokens = 0;
  for (let at = skip(text, 0); at < text.length; at = skip(text, at)) {
    if (++tokens % pauseEveryTokens === 0) await pause();
    const first = text[at] as string;
    if (first === "{" || first === "[") {
      open.push({ kind: first === "{" ? "object" : "list", at, entries: [], items: [], key: undefined });
      at += 1;
    } else if (first === "}" || first === "]") {
      const closed = open.pop();
      invariant(closed !== undefined, "INTERNAL", "the JSON parser produced invalid JSON");
      put(
        closed.kind === "object"
          ? { kind: "object", at: closed.at, entries: closed.entries }
          : { kind: "list", at: closed.at, items: closed.items },
      );
      at += 1;
    } else {
      const end = first === '"' ? stringEnd(text, at) : wordEnd(text, at);
      const parent = open.at(-1);
      const source = text.slice(at, end);
      if (parent?.kind === "object" && parent.key === undefined) parent.key = JSON.parse(source) as string;
      else put(valueNode(source, at));
      at = end;
    }
  }
  return roots;
}

function skip(text: string, from: number): number {
  blank.lastIndex = from;
  blank.test(text);
  return blank.lastIndex;
}

function wordEnd(text: string, from: number): number {
  word.lastIndex = from;
  word.test(text);
  return Math.max(from + 1, word.lastIndex);
}

/** After the first quote that no backslash escapes. */
function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

function valueNode(source: string, at: number): TreeNode {
  if (source.startsWith('"')) return { kind: "value", at, type: "text", text: JSON.parse(source) as string };
  if (source === "true" || source === "false") return { kind: "value", at, type: "boolean", text: source };
  return { kind: "value", at, type: source === "null" ? "null" : "number", text: source };
}
