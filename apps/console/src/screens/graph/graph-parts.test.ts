import type { Term, Triple } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { readTerm, shortTerm, termText } from "../../api/terms.ts";
import { nameIn, type Around } from "./around.ts";
import { expandedMax, readGraphSearch } from "./graph-state.ts";
import { nodesMax, pictureOf } from "./picture.ts";

const iri = (value: string): Term => ({ type: "iri", value });
const triple = (s: string, p: string, o: string | Term): Triple => ({
  s: iri(s),
  p: iri(p),
  o: typeof o === "string" ? iri(o) : o,
  g: null,
});
const around = (term: string, out: readonly Triple[], into: readonly Triple[] = []): Around => ({
  term: termText(iri(term)),
  out,
  into,
  outCut: false,
  intoCut: false,
});

describe("a term as text", () => {
  it("comes back as it was, with quotes and brackets in it", () => {
    const terms: readonly Term[] = [
      iri("urn:x:<b>"),
      { type: "blank", value: "b.1" },
      { type: "literal", value: 'say "hi" \\ <img src=x>' },
      { type: "literal", value: "Ada", language: "en" },
      { type: "literal", value: "1", datatype: "http://www.w3.org/2001/XMLSchema#integer" },
      { type: "literal", value: "" },
    ];
    for (const term of terms) expect(readTerm(termText(term))).toEqual(term);
  });

  it("is no term where the server would not read one", () => {
    expect(readTerm("words")).toBeUndefined();
    expect(readTerm('"')).toBeUndefined();
    expect(readTerm("urn:x")).toEqual(iri("urn:x"));
  });

  it("is short where people read it", () => {
    expect(
      [
        "https://e.org/ada",
        "https://e.org/ns#name",
        "urn:x:e/ada_l",
        "https://e.org/a%20b/",
        "https://e.org/%zz",
        "urn:",
      ].map((value) => shortTerm(iri(value))),
    ).toEqual(["ada", "name", "ada_l", "a b", "%zz", "urn:"]);
  });
});

describe("the picture", () => {
  it("has the entities and their edges, texts only as names, and one line for several properties", () => {
    const name: Term = { type: "literal", value: "Ada" };
    const { nodes, edges, nodesAll } = pictureOf([
      around(
        "u:a",
        [
          triple("u:a", "u:name", name),
          triple("u:a", "x:/name", name),
          triple("u:a", "u:knows", "u:c"),
          triple("u:a", "u:likes", "u:c"),
        ],
        [triple("u:d", "u:knows", "u:a")],
      ),
    ]);
    expect(nodes.map(({ label, open }) => [label, open])).toEqual([
      ["Ada", true],
      ["c", false],
      ["d", false],
    ]);
    expect(edges.map(({ from, to, label }) => [from, to, label])).toEqual([
      ["<u:a>", "<u:c>", "knows, likes"],
      ["<u:d>", "<u:a>", "knows"],
    ]);
    expect(nodesAll).toBe(3);
  });

  it("shows as many entities as the limit allows, and says how many there are one past it", () => {
    const hub = (count: number) =>
      pictureOf([
        around(
          "u:hub",
          Array.from({ length: count }, (_, i) => triple("u:hub", "u:to", `u:n${i}`)),
        ),
      ]);
    expect(hub(nodesMax - 1)).toMatchObject({ nodesAll: nodesMax });
    expect(hub(nodesMax - 1).nodes).toHaveLength(nodesMax);
    expect(hub(nodesMax)).toMatchObject({ nodesAll: nodesMax + 1 });
    expect(hub(nodesMax).nodes).toHaveLength(nodesMax);
    expect(hub(nodesMax).edges).toHaveLength(nodesMax - 1);
  });

  it("gives each open entity its turn, so that a large one leaves room for the others", () => {
    const large = around(
      "u:hub",
      Array.from({ length: nodesMax * 2 }, (_, i) => triple("u:hub", "u:to", `u:n${i}`)),
    );
    const small = around("u:a", [triple("u:a", "u:to", "u:b"), triple("u:a", "u:to", "u:c")]);
    const shown = pictureOf([large, small]).nodes.map(({ id }) => id);
    expect(shown).toEqual(expect.arrayContaining(["<u:hub>", "<u:a>", "<u:b>", "<u:c>"]));
  });

  it("shows an entity of which nothing is known", () => {
    expect(pictureOf([around("u:lonely", [])])).toMatchObject({ nodes: [{ id: "<u:lonely>", open: true }], edges: [] });
    expect(nameIn([])).toBeUndefined();
  });
});

describe("the address of the graph page", () => {
  it("keeps what it knows and drops the rest", () => {
    const open = Array.from({ length: expandedMax + 1 }, (_, i) => `<u:${i}>`);
    const search = readGraphSearch({
      in: "r/c",
      tab: "magic",
      focus: "<u:a>",
      open,
      triple: { s: "<u:a>", p: "<u:p>", o: '"x"' },
      junk: true,
    });
    expect(search).toMatchObject({ in: "r/c", tab: undefined, focus: "<u:a>", triple: { s: "<u:a>", o: '"x"' } });
    expect(search.open).toHaveLength(expandedMax);
    expect("junk" in search).toBe(false);
    expect(readGraphSearch({ open: open.slice(1) }).open).toHaveLength(expandedMax);
  });
});
