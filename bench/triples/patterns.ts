/** The eight patterns, by their letters, and which of them are bound tightly. */
import type { Quad } from "../../packages/pinakes/src/domain/rdf.ts";

export interface Shape {
  readonly name: string;
  readonly s: boolean;
  readonly p: boolean;
  readonly o: boolean;
  /** How many times faster than the peer it must be. */
  readonly bar: number;
}

const shape = (name: string, bar: number): Shape => ({
  name,
  s: name.startsWith("s"),
  p: name[1] === "p",
  o: name.endsWith("o"),
  bar,
});

export const shapes: readonly Shape[] = [
  shape("spo", 3),
  shape("sp?", 3),
  shape("s??", 3),
  shape("?po", 3),
  shape("??o", 3),
  shape("s?o", 3),
  shape("?p?", 1.5),
  shape("???", 1.5),
];

export const isBound = ({ s, o }: Shape): boolean => s || o;

/** The maximum number of requested rows. */
export const rowsMax = 100;

export function patternOf({ s, p, o }: Shape, quad: Quad): { s?: string; p?: string; o?: string } {
  return { ...(s ? { s: quad.s } : {}), ...(p ? { p: quad.p } : {}), ...(o ? { o: quad.o } : {}) };
}
