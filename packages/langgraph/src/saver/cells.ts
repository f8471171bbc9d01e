/**
 * Values as they are stored. A cell is a value's serialised text, or refers to it:
 *
 *   "…"                    JSON text
 *   { j, t?, r? }          text; its type when it is not JSON (then base64); the texts it shares with others (shared-texts.ts)
 *   { b, t? }              the text is a blob
 *   { n, h }               a list of n elements (chain.ts)
 *
 * A blob is a text named by its hash: stored once per thread however often it is used. `r` and `b` are names of blobs, with the number
 * of their parts when there are several ("<hash>*3").
 */
import type { JsonObject } from "@pinakes/client";
import { MemorySaver, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { blobId, contentHash } from "./keys.ts";
import { putTogether, takeApart } from "./shared-texts.ts";

export type TextCell =
  | string
  | { readonly j?: string; readonly b?: string; readonly t?: string; readonly r?: readonly string[] };
export interface ListCell {
  readonly n: number;
  readonly h: string;
}
export type Cell = TextCell | ListCell;

export interface Blob {
  readonly text: string;
  readonly r?: readonly string[];
}
/** By name. */
export type Blobs = Map<string, Blob>;

/** At most 192 KB as UTF-8, well within what every engine stores in one item. */
const partCharsMax = 65_536;
/** For a cell among others in one item. */
const cellCharsMax = 32_768;

export interface Serialised {
  readonly type: string;
  readonly text: string;
}

export async function serialise(serde: SerializerProtocol, value: unknown): Promise<Serialised> {
  const [type, data] = await serde.dumpsTyped(value);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return { type, text: bytes.toString(type === "json" ? "utf8" : "base64") };
}

/** Creates the cell of a text; its shared parts are added to `blobs`. A text longer than `inlineCharsMax` becomes a blob itself. */
export function makeCell({ type, text }: Serialised, blobs: Blobs, inlineCharsMax: number = cellCharsMax): TextCell {
  const t = type === "json" ? {} : { t: type };
  const skeleton = type === "json" ? takeApart(text) : undefined;
  const r = skeleton?.shared.map((shared) => addBlob(blobs, { text: shared }));
  const blob: Blob = { text: skeleton?.text ?? text, ...(r === undefined ? {} : { r }) };
  if (blob.text.length > inlineCharsMax) return { ...t, b: addBlob(blobs, blob) };
  return type === "json" && r === undefined ? text : { ...t, j: blob.text, ...(r === undefined ? {} : { r }) };
}

function addBlob(blobs: Blobs, blob: Blob): string {
  const digest = contentHash(blob.r === undefined ? blob.text : JSON.stringify([blob.text, blob.r]));
  const parts = partsOf(blob.text).length;
  const name = parts === 1 ? digest : `${digest}*${parts}`;
  blobs.set(name, blob);
  return name;
}

export function isList(cell: Cell): cell is ListCell {
  return typeof cell === "object" && "n" in cell;
}

/** The blobs that a cell names itself; those may name others. */
export function namesIn(cell: TextCell): readonly string[] {
  if (typeof cell === "string") return [];
  return cell.b === undefined ? (cell.r ?? []) : [cell.b];
}

/**
 * Decodes the values of many cells. LangGraph's own serialiser parses one joined list of JSON texts, which is faster than parsing them one
 * by one.
 */
export async function readCells(
  serde: SerializerProtocol,
  cells: readonly TextCell[],
  blobOf: (name: string) => Blob,
): Promise<unknown[]> {
  const texts = cells.map((cell) => textOf(cell, blobOf));
  if (serde.constructor === ownSerialiser && cells.every((cell) => typeof cell === "string" || cell.t === undefined)) {
    return (await serde.loadsTyped("json", `[${texts.join(",")}]`)) as unknown[];
  }
  const read = async (text: string, cell: TextCell): Promise<unknown> => {
    if (typeof cell === "string" || cell.t === undefined) return serde.loadsTyped("json", text);
    return serde.loadsTyped(cell.t, new Uint8Array(Buffer.from(text, "base64")));
  };
  return Promise.all(texts.map((text, i) => read(text, cells[i] as TextCell)));
}
const ownSerialiser = new MemorySaver().serde.constructor;

function textOf(cell: TextCell, blobOf: (name: string) => Blob): string {
  if (typeof cell === "string") return cell;
  let whole = wholeTexts.get(cell);
  if (whole === undefined) {
    const { text, r } = cell.b === undefined ? { text: cell.j as string, r: cell.r } : blobOf(cell.b);
    whole = r === undefined ? text : putTogether(text, (place) => blobOf(r[place] as string).text);
    wholeTexts.set(cell, whole);
  }
  return whole;
}

/** Cached cells: a continuing thread reads the same ones at each step. */
const wholeTexts = new WeakMap<object, string>();

/** The items of a blob. */
export function blobItems(life: string, name: string, { text, r }: Blob): (JsonObject & { readonly id: string })[] {
  const [digest] = splitName(name);
  return partsOf(text).map((x, part) => ({
    id: blobId(life, digest, part),
    x,
    ...(r === undefined || part > 0 ? {} : { r }),
  }));
}

export function blobIds(life: string, name: string): string[] {
  const [digest, parts] = splitName(name);
  return Array.from({ length: parts }, (_, part) => blobId(life, digest, part));
}

/** The blob of its items, in their order; undefined when one is missing. */
export function blobOfItems(items: readonly (JsonObject | null | undefined)[]): Blob | undefined {
  if (items.some((item) => item === null || item === undefined)) return undefined;
  const r = items[0]?.["r"] as readonly string[] | undefined;
  return { text: items.map((item) => item?.["x"] as string).join(""), ...(r === undefined ? {} : { r }) };
}

function splitName(name: string): [digest: string, parts: number] {
  const [digest, parts] = name.split("*") as [string, string?];
  return [digest, parts === undefined ? 1 : Number(parts)];
}

/** No part ends with half a character. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  do {
    let to = Math.min(text.length, from + partCharsMax);
    if (to < text.length && /[\ud800-\udbff]/.test(text[to - 1] as string)) to -= 1;
    parts.push(text.slice(from, to));
    from = to;
  } while (from < text.length);
  return parts;
}
