/**
 * Lists grow: a conversation adds a message at each step, and every checkpoint has the whole list. So a list is stored as a chain.
 *
 * Each element has a hash over itself and all before it. A node holds some elements in a row: where they start, the hash of the element
 * before them, their cells. A version of a list is only its length and the hash of its last element; it is read backwards from there, node
 * by node. Versions with a common prefix share its nodes: an append stores only the new elements, a change in the middle stores the
 * elements after it again, and two forks store their common prefix once.
 */
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { makeCell, serialise, type Blobs, type ListCell, type Serialised, type TextCell } from "./cells.ts";
import { contentHash } from "./keys.ts";

export interface ChainNode {
  readonly start: number;
  /** Hash of the element before the first; "" at the beginning. */
  readonly previous: string;
  /** Hash of its last element. */
  readonly hash: string;
  readonly cells: readonly TextCell[];
}

/** The nodes of one channel known to be stored, by their end. */
export class Chain {
  readonly #nodes = new Map<string, ChainNode>();
  #end = 0;

  add(node: ChainNode): void {
    const end = node.start + node.cells.length;
    this.#nodes.set(`${end}:${node.hash}`, node);
    this.#end = Math.max(this.#end, end);
  }

  /** Where the longest version known ends. */
  get end(): number {
    return this.#end;
  }

  has(end: number, hash: string): boolean {
    return this.#nodes.has(`${end}:${hash}`);
  }

  /** The elements of a version; undefined when a node is not known. */
  walk({ n, h }: ListCell): TextCell[] | undefined {
    const nodes: ChainNode[] = [];
    for (let [end, hash] = [n, h]; end > 0;) {
      const node = this.#nodes.get(`${end}:${hash}`);
      if (node === undefined) return undefined;
      nodes.push(node);
      [end, hash] = [node.start, node.previous];
    }
    return nodes.toReversed().flatMap(({ cells }) => cells);
  }
}

/** Elements per node: a long new list needs few items, and a change in the middle rewrites few preceding elements. */
const nodeElementsMax = 16;
const nodeCharsMax = 32_768;

/** Lists of numbers are changed as a whole and small: they are values like others. */
export function isChainable(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.some((element) => typeof element !== "number" && typeof element !== "boolean");
}

export interface LinkedList {
  readonly cell: ListCell;
  readonly elements: readonly Serialised[];
  readonly hashes: readonly string[];
}

export async function linkList(serde: SerializerProtocol, list: readonly unknown[]): Promise<LinkedList> {
  // Array.from: a hole is an undefined element.
  const elements = await Promise.all(Array.from(list, (element) => serialise(serde, element)));
  let previous = "";
  const hashes = elements.map(({ type, text }) => (previous = contentHash(`${previous}\n${type}\n${text}`)));
  return { cell: { n: list.length, h: previous }, elements, hashes };
}

/** The nodes that are not stored yet. */
export function missingNodes({ elements, hashes }: LinkedList, chain: Chain, blobs: Blobs): ChainNode[] {
  let start = elements.length;
  while (start > 0 && !chain.has(start, hashes[start - 1] as string)) start -= 1;
  const nodes: ChainNode[] = [];
  while (start < elements.length) {
    const cells: TextCell[] = [];
    let chars = 0;
    for (let i = start; i < elements.length && cells.length < nodeElementsMax && chars < nodeCharsMax; i += 1) {
      const cell = makeCell(elements[i] as Serialised, blobs);
      chars += typeof cell === "string" ? cell.length : (cell.j?.length ?? 0);
      cells.push(cell);
    }
    const end = start + cells.length;
    nodes.push({ start, previous: hashes[start - 1] ?? "", hash: hashes[end - 1] as string, cells });
    start = end;
  }
  return nodes;
}
