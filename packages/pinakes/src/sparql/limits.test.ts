import { describe, expect, it } from "vitest";
import { PinakesError } from "../domain/errors.ts";
import { sparqlLimits } from "./limits.ts";
import { createSparql } from "./sparql.ts";
import { quads, select, selectRows, testQuads, update, valueOf } from "./test-quads.ts";

const ten = testQuads(quads(Array.from({ length: 10 }, (_, i) => `:s${i} :p ${i}`).join("\n")));

const over = async (promise: Promise<unknown>, name: string) => {
  await expect(promise).rejects.toMatchObject({
    code: "LIMIT_EXCEEDED",
    message: expect.stringContaining(name) as unknown,
  });
};

describe("R-TG-125 limits, at each and one past it", () => {
  it("rows of the result: an error after the last allowed one, never a shorter answer", async () => {
    expect(await select(ten, "SELECT ?s { ?s :p ?o }", { limits: { resultRowsMax: 10 } })).toHaveLength(10);
    await over(select(ten, "SELECT ?s { ?s :p ?o }", { limits: { resultRowsMax: 9 } }), "resultRowsMax");
    const result = await createSparql({ limits: { resultRowsMax: 9 } }).query(ten, "SELECT ?s { ?s ?p ?o }");
    const rows: unknown[] = [];
    await over(
      (async () => {
        if (result.kind === "bindings") for await (const row of result.rows) rows.push(row);
      })(),
      "resultRowsMax",
    );
    expect(rows).toHaveLength(9);
  });
  it.each([
    ["a sort", "SELECT ?s { ?s :p ?o } ORDER BY ?o", 10],
    ["DISTINCT", "SELECT DISTINCT ?s { ?s :p ?o }", 10],
    ["groups", "SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s", 10],
    ["DISTINCT in an aggregate", "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?o }", 10],
    ["the right side of a join", "SELECT * { VALUES ?x { 1 } OPTIONAL { ?s :p ?o } }", 10],
    ["MINUS", "SELECT ?s { ?s :p ?o MINUS { SELECT ?s { ?s :p ?o } LIMIT 100 } }", 10],
    ["graphs seen as one", "SELECT ?s { ?s :p ?o }", 10],
  ])("rows in memory: %s", async (what, text, rows) => {
    const options = what === "graphs seen as one" ? { defaultGraph: "union" as const } : {};
    expect((await select(ten, text, { ...options, limits: { heldRowsMax: rows } })).length).toBeGreaterThanOrEqual(0);
    await over(select(ten, text, { ...options, limits: { heldRowsMax: rows - 1 } }), "heldRowsMax");
  });
  it("rows in memory: a path", async () => {
    const chain = testQuads(quads(Array.from({ length: 10 }, (_, i) => `:n${i} :next :n${i + 1}`).join("\n")));
    expect(await select(chain, "SELECT ?x { :n0 :next+ ?x }", { limits: { heldRowsMax: 10 } })).toHaveLength(10);
    await over(select(chain, "SELECT ?x { :n0 :next+ ?x }", { limits: { heldRowsMax: 9 } }), "heldRowsMax");
  });
  it("rows in memory: what was held is given back", async () => {
    const text = "SELECT (COUNT(*) AS ?n) { { SELECT DISTINCT ?s { ?s :p ?o } } }";
    expect(await select(ten, `SELECT ?n { { ${text} } UNION { ${text} } }`, { limits: { heldRowsMax: 10 } })).toEqual([
      "10",
      "10",
    ]);
  });
  it("a sort with LIMIT keeps only the first rows in memory", async () => {
    const many = testQuads(
      quads(Array.from({ length: 5_000 }, (_, i) => `:s${i} :p ${(i * 7919) % 5_000}`).join("\n")),
      { pageQuads: 1_000 },
    );
    expect(
      await select(many, "SELECT ?o { ?s :p ?o } ORDER BY DESC(?o) LIMIT 3", { limits: { heldRowsMax: 4_000 } }),
    ).toEqual(["4999", "4998", "4997"]);
    await over(
      select(many, "SELECT ?o { ?s :p ?o } ORDER BY DESC(?o)", { limits: { heldRowsMax: 4_000 } }),
      "heldRowsMax",
    );
  });
  it("quads of one operation of an update: nothing of it is written", async () => {
    const store = testQuads(ten.quads());
    const text = "INSERT { ?s :q ?o } WHERE { ?s :p ?o }";
    await over(update(store, text, { limits: { updateQuadsMax: 9 } }), "updateQuadsMax");
    expect(store.quads()).toHaveLength(10);
    expect(await update(store, text, { limits: { updateQuadsMax: 10 } })).toEqual({ inserted: 10, removed: 0 });
  });
  it("the length of the text", async () => {
    const sparql = createSparql();
    const padded = (text: string, chars: number) => text + " ".repeat(chars - text.length);
    expect((await sparql.query(ten, padded("ASK {}", sparqlLimits.queryCharsMax))).kind).toBe("boolean");
    await over(sparql.query(ten, padded("ASK {}", sparqlLimits.queryCharsMax + 1)), "queryCharsMax");
    const store = testQuads();
    expect(await sparql.update(store, store, padded("CLEAR ALL", sparqlLimits.updateCharsMax))).toEqual({
      inserted: 0,
      removed: 0,
    });
    await over(sparql.update(store, store, padded("CLEAR ALL", sparqlLimits.updateCharsMax + 1)), "updateCharsMax");
  });
  it("brackets, also far more than a stack bears; those of texts do not count", async () => {
    const nested = (depth: number) =>
      `SELECT (${"!(".repeat(depth - 1)}"((" = "[{"${")".repeat(depth - 1)} AS ?v) {} # ((`;
    expect(await select(ten, nested(sparqlLimits.bracketsMax))).toHaveLength(1);
    await over(select(ten, nested(sparqlLimits.bracketsMax + 1)), "bracketsMax");
    await over(select(ten, `SELECT * ${"{".repeat(20_000)}${"}".repeat(20_000)}`), "bracketsMax");
  });
  it("operators inside operators", async () => {
    const chain = (length: number) => `SELECT (${Array.from({ length }, () => "?none").join(" || ")} AS ?v) {}`;
    const longest = sparqlLimits.depthMax - 2;
    expect(await select(ten, chain(longest))).toEqual([""]);
    await over(select(ten, chain(longest + 1)), "depthMax");
    await over(select(ten, chain(6_000)), "depthMax");
  });
  it("patterns of a group, also in GRAPH, and with as many rows to close", async () => {
    const chain = (length: number) =>
      Array.from({ length }, (_, i) => `?s${i} :p ?o${i % 2 === 0 ? "" : i}`).join(" . ");
    expect(await select(ten, `SELECT ?s0 { ${chain(sparqlLimits.joinPartsMax)} } LIMIT 5`)).toHaveLength(5);
    await over(select(ten, `SELECT ?s0 { ${chain(sparqlLimits.joinPartsMax + 1)} } LIMIT 5`), "joinPartsMax");
    expect(await select(ten, `SELECT ?s0 { GRAPH ?g { ${chain(sparqlLimits.joinPartsMax)} } }`)).toEqual([]);
    await over(select(ten, `SELECT ?s0 { GRAPH ?g { ${chain(sparqlLimits.joinPartsMax + 1)} } }`), "joinPartsMax");
  });
  it("OPTIONALs one after the other, as deep as operators go", async () => {
    const optional = (length: number) =>
      Array.from({ length }, (_, i) => `OPTIONAL { ?s :p${i === 0 ? "" : i} ?o${i} }`).join(" ");
    expect(await select(ten, `SELECT ?s { ${optional(sparqlLimits.depthMax - 4)} } LIMIT 3`)).toHaveLength(3);
    await over(select(ten, `SELECT ?s { ${optional(sparqlLimits.depthMax + 1)} }`), "depthMax");
  });
  it("texts that functions make", async () => {
    const half = "x".repeat(1_024);
    const doubled = (times: number) =>
      Array.from({ length: times }).reduce<string>(
        (inner, _, at) => `${inner} BIND(CONCAT(?v${at}, ?v${at}) AS ?v${at + 1})`,
        `BIND("${half}" AS ?v0)`,
      );
    expect(await select(ten, `SELECT (STRLEN(?v10) AS ?n) { ${doubled(10)} }`)).toEqual([
      String(sparqlLimits.madeCharsMax),
    ]);
    await over(select(ten, `SELECT (STRLEN(?v11) AS ?n) { ${doubled(11)} }`), "madeCharsMax");
  });
  it("regular expressions: pattern, states and text; a hostile one is as quick as any", async () => {
    const text = (chars: number) => "a".repeat(chars);
    expect(await valueOf(`REGEX("a", "${text(sparqlLimits.regexCharsMax)}")`)).toBe("false");
    await over(valueOf(`REGEX("a", "${text(sparqlLimits.regexCharsMax + 1)}")`), "regexCharsMax");
    expect(await valueOf(`REGEX("a", "a{${sparqlLimits.regexStatesMax - 3}}")`)).toBe("false");
    await over(valueOf(`REGEX("a", "a{${sparqlLimits.regexStatesMax - 2}}")`), "regexStatesMax");
    expect(await valueOf(`REGEX("${text(sparqlLimits.regexInputCharsMax)}", "^(a+)+$")`)).toBe("true");
    await over(valueOf(`REGEX("${text(sparqlLimits.regexInputCharsMax + 1)}", "^(a+)+$")`), "regexInputCharsMax");
    expect(await valueOf(`REGEX("${text(5_000)}!", "^(a+)+$")`)).toBe("false");
  });
  it("numbers of very many digits are no numbers", async () => {
    expect(await valueOf(`isNumeric(${"1".repeat(sparqlLimits.numberCharsMax)})`)).toBe("true");
    expect(await valueOf(`isNumeric(${"1".repeat(sparqlLimits.numberCharsMax + 1)})`)).toBe("false");
  });
  it("time: at the limit it goes on, past it the request ends", async () => {
    let elapsed = 0;
    const sparql = createSparql({
      limits: { timeoutMs: 100 },
      clock: { elapsed: () => elapsed, date: () => new Date(0) },
    });
    const result = await sparql.query(ten, "SELECT * { ?s ?p ?o . ?a ?b ?c }");
    if (result.kind !== "bindings") throw new Error("no table");
    const rows = result.rows[Symbol.asyncIterator]();
    elapsed = 100;
    expect((await rows.next()).done).toBe(false);
    elapsed = 101;
    await over(
      (async () => {
        while ((await rows.next()).done !== true);
      })(),
      "timeoutMs",
    );
  });
  it("time: a join that never finds a row ends too", async () => {
    let elapsed = 0;
    const sparql = createSparql({
      limits: { timeoutMs: 100 },
      clock: { elapsed: () => (elapsed += 1), date: () => new Date(0) },
    });
    await over(
      selectRows(
        ten,
        "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o FILTER(?c + ?f + ?i + ?l + ?o < 0) }",
        {},
        sparql,
      ),
      "timeoutMs",
    );
  });
  it("the caller's signal stops it", async () => {
    const controller = new AbortController();
    const result = await createSparql().query(ten, "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }", {
      signal: controller.signal,
    });
    if (result.kind !== "bindings") throw new Error("no table");
    const rows = result.rows[Symbol.asyncIterator]();
    await rows.next();
    controller.abort(new Error("enough"));
    await expect(
      (async () => {
        while ((await rows.next()).done !== true);
      })(),
    ).rejects.toThrow("enough");
  });
  it("the event loop gets its turn while a large join runs", async () => {
    let [elapsed, turns, running] = [0, 0, true];
    const turn = () => {
      turns += 1;
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    const sparql = createSparql({
      limits: { timeoutMs: 300_000 },
      clock: { elapsed: () => (elapsed += 1), date: () => new Date(0) },
    });
    await selectRows(ten, "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }", {}, sparql);
    running = false;
    // A look at the clock, which goes on with every look, is due for each few hundred of ten thousand rows.
    expect(turns).toBeGreaterThan(3);
  });
  it("a limit that is none is INVALID", async () => {
    await expect(select(ten, "SELECT * {}", { limits: { timeoutMs: -1 } })).rejects.toMatchObject({ code: "INVALID" });
    await expect(
      select(ten, "SELECT * {}", { limits: { timeoutMs: sparqlLimits.timeoutMsMax + 1 } }),
    ).rejects.toMatchObject({ code: "INVALID" });
    expect(await select(ten, "SELECT * {}", { limits: { timeoutMs: sparqlLimits.timeoutMsMax } })).toHaveLength(1);
  });
});

describe("R-TG-125 R-TG-126 what is not supported is refused by name", () => {
  it.each([
    ["SELECT * { SERVICE <http://169.254.169.254/> { ?s ?p ?o } }", "SERVICE"],
    ["SELECT * { ?x ?y ?z SERVICE SILENT ?x { ?s ?p ?o } }", "SERVICE"],
    ['SELECT * { ?x ?p ?o FILTER REGEX("aa", "(a)\\\\1") }', "back reference"],
  ])("%s", async (text, name) => {
    const error: unknown = await select(ten, text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PinakesError);
    expect(error).toMatchObject({ code: "NOT_SUPPORTED", message: expect.stringContaining(name) as unknown });
  });
});
