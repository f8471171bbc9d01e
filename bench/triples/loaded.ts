/** A store with the triples in it, whoever made it. */
import type { Quad } from "../../packages/pinakes/src/domain/rdf.ts";
import type { Shape } from "./patterns.ts";

export interface Loaded {
  readonly quads: number;
  readonly perSecond: number;
  /** The first rows that match what the shape binds of a quad; how many there were. */
  ask(shape: Shape, quad: Quad): Promise<number>;
  /** How many bytes it had on disk. */
  close(): Promise<number>;
}
