/**
 * The ids of a thread's items, in the order in which they are read (all in one partition, `thread_id`):
 *
 *   c:<namespace>:<checkpoint>!             a checkpoint …
 *   c:<namespace>:<checkpoint>!w<task>:…    … and, right after it, its pending writes: one query reads both
 *   e:<life>:<channel>:<start>:<hash>       some elements of a list (chain.ts)
 *   t                                       the thread: its life (lives.ts)
 *   x:<life>:<hash>[:<part>]                a text that several values share, or a large one
 *
 * Ids are ordered by their first 192 bytes; names that would not fit are replaced by their hash.
 */
import { hash } from "node:crypto";

const nameCharsMax = 40;
const startDigits = 9;
/** 132 bits. */
const hashChars = 22;

export const threadItem = "t";
/** Key ranges: the checkpoints of one namespace, or of all, or all texts and lists. */
export interface IdRange {
  readonly gte: string;
  readonly lt: string;
}

export function contentHash(text: string): string {
  return hash("sha256", text, "base64url").slice(0, hashChars);
}

export function checkpointId(ns: string, checkpoint: string): string {
  return `c:${name(ns)}:${name(checkpoint)}!`;
}

/** Checkpoints of a namespace before a given one, or all of them. */
export function checkpointRange(ns: string, before?: string): IdRange {
  return { gte: `c:${name(ns)}:`, lt: before === undefined ? `c:${name(ns)};` : checkpointId(ns, before) };
}
export const allCheckpoints: IdRange = { gte: "c:", lt: "c;" };
/** All items of the thread, checkpoints before lists and texts. */
export const allItems: IdRange = { gte: "a", lt: "{" };

/** The checkpoint and its writes. */
export function tupleRange(ns: string, checkpoint: string): IdRange {
  const id = checkpointId(ns, checkpoint);
  return { gte: id, lt: `${id.slice(0, -1)}"` };
}

/** `r`: the regular writes of a task, in one item; `s<n>`: a special one (an error, an interrupt), which may come later. */
export function writesId(ns: string, checkpoint: string, task: string, kind: "r" | `s${number}`): string {
  return `${checkpointId(ns, checkpoint)}w${name(task)}:${kind}`;
}

export function isCheckpointId(id: string): boolean {
  return id.endsWith("!");
}

export function blobId(life: string, blob: string, part: number): string {
  return part === 0 ? `x:${life}:${blob}` : `x:${life}:${blob}:${part}`;
}

export function nodeId(life: string, channel: string, start: number, end: string): string {
  return `e:${life}:${name(channel)}:${padded(start)}:${end}`;
}

/** The elements of a channel from an index on, up to another. */
export function nodeRange(life: string, channel: string, from: number, to: number): IdRange {
  const prefix = `e:${life}:${name(channel)}:`;
  return { gte: prefix + padded(from), lt: prefix + padded(to) };
}

function padded(index: number): string {
  return String(index).padStart(startDigits, "0");
}

/** Letters, digits and `_ - .` are unchanged, so that time-based ids keep their order; longer names become a hash (`~…`). */
function name(text: string): string {
  const escaped = text.replaceAll(/[^\w.-]/g, (char) => `%${(char.codePointAt(0) as number).toString(16)}%`);
  return escaped.length <= nameCharsMax ? escaped : `~${contentHash(text)}`;
}
