import { describe, expect, it } from "vitest";
import { defaultGraph, iri, literal, xsd, type Quad } from "../domain/rdf.ts";
import { prepareChange } from "./prepare-change.ts";
import type { PreparedChange } from "./triple-engine.ts";
import { tripleLimits } from "./triple-limits.ts";

const quad = (n: number): Quad => ({
  s: iri(`s${n}`),
  p: iri("p"),
  o: literal(String(n)),
  g: n % 2 === 0 ? defaultGraph : iri("g"),
});

function quadsOf({ terms }: PreparedChange, places: Uint32Array): Quad[] {
  const text = (at: number): string => terms[places[at] as number] as string;
  return Array.from({ length: places.length / 4 }, (_, i) => ({
    s: text(i * 4),
    p: text(i * 4 + 1),
    o: text(i * 4 + 2),
    g: text(i * 4 + 3),
  }));
}

describe("a prepared change", () => {
  it("has each term once, the default graph first, whatever the notation of a term", () => {
    const plain = { ...quad(0), o: '"x"' };
    const typed = { ...quad(0), o: `"x"^^<${xsd}string>` };
    for (const insert of [
      [plain, typed],
      [typed, plain],
    ]) {
      const [change] = prepareChange({ insert, remove: [plain] }, 100) as [PreparedChange];
      expect(change.terms.toSorted()).toEqual([defaultGraph, '"x"', iri("p"), iri("s0")].toSorted());
      expect(change.terms[0]).toBe(defaultGraph);
      expect(quadsOf(change, change.insert)).toEqual([plain, plain]);
      expect(quadsOf(change, change.remove)).toEqual([plain]);
    }
  });

  it("is one change if the engine supports its size, otherwise several, removals first, each with only its own terms", () => {
    const insert = Array.from({ length: 7 }, (_, i) => quad(i));
    const remove = Array.from({ length: 3 }, (_, i) => quad(i + 100));
    const source = { source: "doc", part: 1 };
    expect(prepareChange({ insert, remove, source, atomic: true }, 10).length).toBe(1);
    const changes = prepareChange({ insert, remove, source }, 2);
    expect(changes.map((change) => [change.remove.length / 4, change.insert.length / 4])).toEqual([
      [2, 0],
      [1, 0],
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 1],
    ]);
    expect(changes.flatMap((change) => quadsOf(change, change.remove))).toEqual(remove);
    expect(changes.flatMap((change) => quadsOf(change, change.insert))).toEqual(insert);
    for (const change of changes) {
      expect(change.source).toEqual(source);
      expect(new Set([...change.remove, ...change.insert, 0]).size).toBe(change.terms.length);
    }
    expect(() => prepareChange({ insert, remove, atomic: true }, 9)).toThrow("one transaction");
  });

  it("rejects any error in it before the first piece is returned", () => {
    const insert = [...Array.from({ length: 5 }, (_, i) => quad(i)), { ...quad(9), p: literal("p") }];
    expect(() => prepareChange({ insert }, 2)).toThrow("A predicate is an IRI");
  });

  it("holds at most 33,554,432 characters of terms", () => {
    const long = tripleLimits.termBytesMax - 2 - 6;
    const text = (n: number, chars: number): string => literal(`${String(n).padStart(6, "0")}${"x".repeat(chars)}`);
    // The short terms of the row, and as many long ones as fit beside them.
    const row = { s: iri("s"), p: iri("p"), g: defaultGraph };
    const whole = tripleLimits.writeCharsMax / tripleLimits.termBytesMax - 1;
    const full = Array.from({ length: whole }, (_, n) => ({ ...row, o: text(n, long) }));
    const most = { ...row, o: text(whole, long - row.s.length - row.p.length) };
    const over = { ...row, o: text(whole, long - row.s.length - row.p.length + 1) };
    expect(prepareChange({ insert: [...full, most] }, 50_000)[0]?.terms.length).toBe(whole + 4);
    expect(() => prepareChange({ insert: [...full, over] }, 50_000)).toThrow("characters together");
  });
});
