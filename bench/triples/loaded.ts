/** A store loaded with the triples, ours or the peer's. */
import type { Quad } from "../../packages/pinakes/src/domain/rdf.ts";
import type { Shape } from "./patterns.ts";

export interface Loaded {
  readonly quads: number;
  readonly perSecond: number;
  /** The first rows that match the bound terms of a quad; returns their number. */
  ask(shape: Shape, quad: Quad): Promise<number>;
  /** Its size on disk in bytes. */
  close(): Promise<number>;
}
