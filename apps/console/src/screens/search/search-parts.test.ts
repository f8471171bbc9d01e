import { describe, expect, it } from "vitest";
import { inCommon, rankChanges } from "./compare.ts";
import { filterTextOf, operators, rowsOf } from "./filter-rows.ts";
import { qualityOf } from "./answer-column.tsx";
import { FilterError, questionOf, readLabSearch } from "./search-state.ts";
import { draftOf, settingsFrom } from "./settings-draft.ts";

describe("a filter as rows", () => {
  it("comes back as it was, with numbers, texts that look like numbers, lists and truth values", () => {
    const filter = {
      year: { gte: 2020, lt: 2030 },
      code: { eq: "42" },
      lang: { in: ["en", "de"] },
      draft: { exists: false },
      open: { ne: true },
      none: { eq: null },
    };
    const rows = rowsOf(filter);
    expect(rows).toHaveLength(7);
    expect(JSON.parse(filterTextOf(rows ?? []))).toEqual(filter);
  });

  it("takes a plain value as one that is equal, and leaves out rows that are not finished", () => {
    expect(rowsOf({ lang: "en" })).toEqual([{ field: "lang", operator: "eq", value: "en" }]);
    expect(
      filterTextOf([
        { field: "", operator: "eq", value: "x" },
        { field: "year", operator: "gt", value: " " },
      ]),
    ).toBe("");
  });

  it("is left to JSON where rows cannot say it", () => {
    for (const filter of [
      { or: [{ a: 1 }] },
      { not: { a: 1 } },
      { a: { matches: "x" } },
      { a: { in: ["x,y"] } },
      { a: { b: { c: 1 } } },
    ])
      expect(rowsOf(filter)).toBeUndefined();
  });

  it("has a row for every comparison the server knows", () => {
    for (const operator of operators)
      expect(rowsOf(JSON.parse(filterTextOf([{ field: "f", operator, value: "1" }])))).toHaveLength(1);
  });
});

describe("the address of the search lab", () => {
  it("becomes the question as the server wants it", () => {
    const search = readLabSearch({
      q: "words",
      in: ["a%2Fb/c", "nonsense"],
      mode: "vector",
      limit: "5",
      filter: { year: 1 },
      user: "ada",
      groups: "x, y,",
      junk: 1,
    });
    expect(questionOf(search.q, search.in, search)).toEqual({
      query: "words",
      explain: true,
      mode: "vector",
      limit: 5,
      collections: [{ repository: "a/b", collection: "c" }],
      filter: { year: 1 },
      as_user: { user_id: "ada", groups: ["x", "y"] },
    });
  });

  it("that holds nonsense asks nothing wrong", () => {
    const search = readLabSearch({ q: { a: 1 }, in: "x", mode: "quantum", limit: "many", b: [1], tab: 3 });
    expect(Object.values(search).filter((value) => value !== undefined)).toEqual([]);
    expect(questionOf(search.q, search.in, search)).toBeUndefined();
    expect(() => questionOf("q", undefined, { filter: "{" })).toThrow(FilterError);
    expect(() => questionOf("q", undefined, { filter: "[1]" })).toThrow(FilterError);
  });

  it("keeps settings over a form, and leaves out what is as it is by default", () => {
    const settings = settingsFrom(draftOf({ mode: "keyword", limit: 3, min: 0, filter: '{"a":1}', user: "u" }));
    expect(settings).toMatchObject({ mode: "keyword", limit: 3, min: 0, filter: '{"a":1}', user: "u" });
    expect(Object.values(settingsFrom(draftOf({ mode: "hybrid" }))).filter((value) => value !== undefined)).toEqual([]);
  });
});

describe("two answers", () => {
  const list = (...ids: readonly string[]) => ids.map((chunk_id) => ({ chunk_id }));

  it("say how far each chunk rose or fell, and which only one of them has", () => {
    const changes = rankChanges(list("a", "b", "c"), list("b", "a", "d"));
    expect([...changes]).toEqual([
      ["a", { by: 1, otherRank: 2 }],
      ["b", { by: -1, otherRank: 1 }],
      ["c", {}],
    ]);
    expect(inCommon(list("a", "b", "c"), list("b", "a", "d"))).toBe(2);
  });
});

describe("the quality of an answer by the reader's marks", () => {
  const hits = ["x", "a", "a", "y", "b"].map((document_id) => ({ document_id }));

  it("counts a document once, at its best chunk", () => {
    const quality = qualityOf(hits, new Set(["a", "b"]));
    expect(quality?.mrr).toBe(1 / 2);
    expect(quality?.recall).toBe(1);
    expect(quality?.ndcg).toBeCloseTo((1 / Math.log2(3) + 1 / Math.log2(5)) / (1 + 1 / Math.log2(3)), 10);
  });

  it("is perfect, nothing, or unknown without marks", () => {
    expect(qualityOf(hits, new Set(["x"]))).toMatchObject({ ndcg: 1, recall: 1, mrr: 1 });
    expect(qualityOf(hits, new Set(["z"]))).toMatchObject({ ndcg: 0, recall: 0, mrr: 0 });
    expect(qualityOf(hits, new Set())).toBeUndefined();
    expect(qualityOf(hits, new Set(["b"]), 2)).toMatchObject({ recall: 0 });
  });
});
