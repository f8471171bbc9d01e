import { describe, expect, it } from "vitest";
import { line, quads, select, testQuads, update } from "./test-quads.ts";

const start = ":a :p 1\n:b :p 2\n:a :q :b :g1\n:c :q :d :g2";

describe("R-TG-123 updates", () => {
  it.each([
    [
      "INSERT DATA",
      "INSERT DATA { :x :y 1 . GRAPH :g3 { :x :y 2 } }",
      [...start.split("\n"), ":x :y 1", ":x :y 2 :g3"],
      { inserted: 2, removed: 0 },
    ],
    ["INSERT DATA of what is there", "INSERT DATA { :a :p 1 }", start.split("\n"), { inserted: 0, removed: 0 }],
    [
      "DELETE DATA",
      "DELETE DATA { :a :p 1 . GRAPH :g1 { :a :q :b . :no :no :no } }",
      [":b :p 2", ":c :q :d :g2"],
      { inserted: 0, removed: 2 },
    ],
    [
      "DELETE and INSERT",
      "DELETE { ?s :p ?o } INSERT { ?s :was ?o } WHERE { ?s :p ?o FILTER(?o > 1) }",
      [":a :p 1", ":a :q :b :g1", ":b :was 2", ":c :q :d :g2"],
      { inserted: 1, removed: 1 },
    ],
    [
      "what is removed and inserted stays",
      "DELETE { ?s :p ?o } INSERT { ?s :p ?o } WHERE { ?s :p ?o }",
      start.split("\n"),
      { inserted: 0, removed: 0 },
    ],
    [
      "WITH",
      "WITH :g1 DELETE { ?s ?p ?o } INSERT { ?o ?p ?s } WHERE { ?s ?p ?o }",
      [":a :p 1", ":b :p 2", ":b :q :a :g1", ":c :q :d :g2"],
      { inserted: 1, removed: 1 },
    ],
    [
      "USING instead of WITH for the pattern",
      "WITH :g1 INSERT { ?s ?p ?o } USING :g2 WHERE { ?s ?p ?o }",
      [...start.split("\n"), ":c :q :d :g1"],
      { inserted: 1, removed: 0 },
    ],
    [
      "USING NAMED",
      "INSERT { ?s :in ?g } USING NAMED :g2 WHERE { GRAPH ?g { ?s ?p ?o } }",
      [...start.split("\n"), ":c :in :g2"],
      { inserted: 1, removed: 0 },
    ],
    [
      "a graph of the template may be a variable",
      "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }",
      [":a :p 1", ":b :p 2"],
      { inserted: 0, removed: 2 },
    ],
    [
      "DELETE WHERE",
      "DELETE WHERE { ?s :p ?o . GRAPH :g1 { ?s :q ?b } }",
      [":b :p 2", ":c :q :d :g2"],
      { inserted: 0, removed: 2 },
    ],
    [
      "a WHERE with GRAPH and MINUS inside WITH",
      "WITH :g1 INSERT { ?s :no 1 } WHERE { ?s ?p ?o MINUS { GRAPH :g2 { ?s ?p ?x } } }",
      [...start.split("\n"), ":a :no 1 :g1"],
      { inserted: 1, removed: 0 },
    ],
    ["CLEAR DEFAULT", "CLEAR DEFAULT", [":a :q :b :g1", ":c :q :d :g2"], { inserted: 0, removed: 2 }],
    ["CLEAR NAMED", "CLEAR NAMED", [":a :p 1", ":b :p 2"], { inserted: 0, removed: 2 }],
    ["DROP GRAPH", "DROP GRAPH :g1", [":a :p 1", ":b :p 2", ":c :q :d :g2"], { inserted: 0, removed: 1 }],
    ["DROP ALL", "DROP ALL", [], { inserted: 0, removed: 4 }],
    ["COPY", "COPY :g1 TO :g2", [":a :p 1", ":b :p 2", ":a :q :b :g1", ":a :q :b :g2"], { inserted: 1, removed: 1 }],
    ["MOVE", "MOVE DEFAULT TO :g1", [":a :p 1 :g1", ":b :p 2 :g1", ":c :q :d :g2"], { inserted: 2, removed: 3 }],
    ["ADD", "ADD :g1 TO DEFAULT", [...start.split("\n"), ":a :q :b"], { inserted: 1, removed: 0 }],
    ["a graph to itself", "MOVE :g1 TO :g1", start.split("\n"), { inserted: 0, removed: 0 }],
    ["CREATE of a new graph", "CREATE GRAPH :new", start.split("\n"), { inserted: 0, removed: 0 }],
    [
      "one operation sees what those before it wrote",
      "INSERT DATA { :n :p 9 } ; DELETE WHERE { ?s :p 9 } ; INSERT { :seen :it ?o } WHERE { :n :p ?o }",
      start.split("\n"),
      { inserted: 1, removed: 1 },
    ],
    [
      "prefixes declared later",
      "INSERT DATA { :x :y 1 } ; PREFIX z: <http://x/z> INSERT DATA { z:1 :y 2 }",
      [...start.split("\n"), ":x :y 1", ":z1 :y 2"],
      { inserted: 2, removed: 0 },
    ],
  ])("%s", async (_, text, lines, counts) => {
    const store = testQuads(quads(start), { pageQuads: 1 });
    expect(await update(store, text)).toEqual(counts);
    expect(store.quads().map(line).toSorted()).toEqual(lines.toSorted());
  });

  it("the WHERE is evaluated completely before anything is written", async () => {
    const store = testQuads(quads(":a :next :b\n:b :next :c\n:c :next :d"), { pageQuads: 1 });
    await update(store, "INSERT { ?x :next ?z } WHERE { ?x :next ?y . ?y :next ?z }");
    expect(store.quads().map(line).toSorted()).toEqual([
      ":a :next :b",
      ":a :next :c",
      ":b :next :c",
      ":b :next :d",
      ":c :next :d",
    ]);
  });
  it("blank nodes of INSERT are new for each row, and never those of the store", async () => {
    const store = testQuads(quads("_:x :p 1\n_:y :p 2"));
    await update(store, "INSERT { _:x :copy ?o } WHERE { ?s :p ?o }");
    await update(store, "INSERT DATA { _:x :data 1 . _:x :data 2 }");
    const labels = (await select(store, "SELECT ?s { ?s :copy ?o }")).concat(
      await select(store, "SELECT DISTINCT ?s { ?s :data ?o }"),
    );
    expect(new Set(["_:x", "_:y", ...labels]).size).toBe(5);
  });
  it("CREATE of a graph that is there is a CONFLICT, unless SILENT", async () => {
    const store = testQuads(quads(start));
    await expect(update(store, "CREATE GRAPH :g1")).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await update(store, "CREATE SILENT GRAPH :g1")).toEqual({ inserted: 0, removed: 0 });
  });
  it("COPY from a graph that is not there empties nothing", async () => {
    const store = testQuads(quads(start));
    await expect(update(store, "COPY :typo TO :g1")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await update(store, "COPY SILENT :typo TO :g1")).toEqual({ inserted: 0, removed: 0 });
    expect(store.quads()).toHaveLength(4);
  });
  it("R-TG-126 LOAD is refused, and nothing before it was written", async () => {
    const store = testQuads(quads(start));
    await expect(
      update(store, "INSERT DATA { :x :y 1 } ; LOAD SILENT <http://169.254.169.254/>"),
    ).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
    await expect(
      update(store, "CLEAR ALL ; INSERT { :a :b :c } WHERE { SERVICE <http://e/> { ?s ?p ?o } }"),
    ).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
    expect(store.quads()).toHaveLength(4);
  });
  it("a query is no update, and an update no query", async () => {
    await expect(update(testQuads(), "SELECT * {}")).rejects.toMatchObject({ code: "INVALID" });
    await expect(select(testQuads(), "CLEAR ALL")).rejects.toMatchObject({ code: "INVALID" });
  });
});
