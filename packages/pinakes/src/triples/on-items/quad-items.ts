/**
 * The layout: one container for all spaces, each space in eight partitions, chosen by the subject. So no collection becomes one hot
 * partition, and everything about a quad is in the partition of the quad.
 *
 * Ids begin with a letter for their kind; terms and sources are hashed, since keys are short and terms are not.
 *
 *   !state                        of the partition: status, counters
 *   d s p o                       a quad of the default graph
 *   n s p o g                     a quad of a named graph
 *   g g                           a graph's name, and how many quads of this partition are in it
 *   u quad source : part          a support, by its quad
 *   v source quad : part          the same, by its source
 */
import { hash } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import { defaultGraph, type Quad, type TermText } from "../../domain/rdf.ts";
import type { ContainerDefinition } from "../../ports/item-store.ts";
import type { Support } from "../../ports/triple-store.ts";

/** Part of the format: with another number, the quads of existing spaces would not be found. */
export const shardsPerSpace = 8;

/** The index orders that the ids do not provide. Quads of the default graph are only in the first two. */
export const tripleContainer: ContainerDefinition = {
  name: "triples",
  partitionKey: ["space", "shard"],
  indexes: {
    pos: { partition: ["space", "kind", "kp"], sort: ["ko", "ks", "kg"] },
    osp: { partition: ["space", "kind", "ko"], sort: ["ks", "kp", "kg"] },
    gsp: { partition: ["space", "kg"], sort: ["ks", "kp", "ko"] },
    gpo: { partition: ["space", "kg", "kp"], sort: ["ko", "ks"] },
    gos: { partition: ["space", "kg", "ko"], sort: ["ks", "kp"] },
  },
};

export const stateId = "!state";
const keyBytes = 20;

/** 160 bits of a hash: collisions cannot be constructed. */
export function keyOf(text: string): string {
  return hash("sha256", text, "buffer").toString("base64url", 0, keyBytes);
}

export interface QuadKeys {
  readonly s: string;
  readonly p: string;
  readonly o: string;
  /** Undefined for the default graph. */
  readonly g: string | undefined;
}

/** Caches the texts of one call: predicates and subjects repeat. */
export class Keys {
  readonly #known = new Map<TermText, string>();

  of(text: TermText): string {
    let key = this.#known.get(text);
    if (key === undefined) this.#known.set(text, (key = keyOf(text)));
    return key;
  }

  quad({ s, p, o, g }: Quad): QuadKeys {
    return { s: this.of(s), p: this.of(p), o: this.of(o), g: g === defaultGraph ? undefined : this.of(g) };
  }
}

/** The partition of a subject's quads. */
export function shardOf(subjectKey: string): number {
  return Buffer.from(subjectKey.slice(0, 8), "base64url").readUInt32BE(0) % shardsPerSpace;
}

export function quadId({ s, p, o, g }: QuadKeys): string {
  return g === undefined ? `d${s}${p}${o}` : `n${s}${p}${o}${g}`;
}

export function graphId(graphKey: string): string {
  return `g${graphKey}`;
}

/** The id prefix of a quad's supports. */
export function supportPrefix(quad: string): string {
  return `u${keyOf(quad)}`;
}

export function sourcePrefix(source: string): string {
  return `v${keyOf(source)}`;
}

/** The two items of a support. */
export function supportIds(
  quad: string,
  { source, part }: Support,
): { readonly byQuad: string; readonly bySource: string } {
  return {
    byQuad: `${supportPrefix(quad)}${keyOf(source)}:${part}`,
    bySource: `${sourcePrefix(source)}${keyOf(quad)}:${part}`,
  };
}

export type Home = { readonly space: string; readonly shard: number };

export function quadDocument(home: Home, quad: Quad, keys: QuadKeys, asserted: boolean): JsonObject {
  const { s, p, o, g } = keys;
  return {
    id: quadId(keys),
    ...home,
    kind: g === undefined ? "d" : "n",
    ks: s,
    kp: p,
    ko: o,
    ...(g === undefined ? {} : { kg: g }),
    s: quad.s,
    p: quad.p,
    o: quad.o,
    ...(g === undefined ? {} : { g: quad.g }),
    asserted,
    supports: asserted ? 0 : 1,
  };
}

export function quadOf(document: JsonObject): Quad {
  const {
    s,
    p,
    o,
    g = defaultGraph,
  } = document as { readonly s: string; readonly p: string; readonly o: string; readonly g?: string };
  return { s, p, o, g };
}

/** What a stored quad records beyond its terms. */
export interface StoredQuad {
  readonly id: string;
  readonly kg?: string;
  readonly g?: string;
  readonly asserted: boolean;
  readonly supports: number;
}

export interface StoredSupport {
  readonly id: string;
  readonly quad: string;
  readonly source: string;
  readonly part: number;
}
