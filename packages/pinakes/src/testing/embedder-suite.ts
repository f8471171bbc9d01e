/**
 * The conformance suite of the embedder port. Every embedder runs it with its real model.
 *
 * @example
 * embedderSuite("my embedder", () => openMyEmbedder());
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Embedder } from "../ports/embedder.ts";

export type OpenEmbedder = () => Embedder | Promise<Embedder>;

const manyTexts = 1_000;

/** `open` returns an embedder; the suite closes it. */
export function embedderSuite(name: string, open: OpenEmbedder): void {
  describe(`embedder: ${name}`, () => {
    let embedder: Embedder;
    beforeAll(async () => {
      embedder = await open();
    });
    afterAll(() => embedder.close());
    describe("vectors", () => vectors(() => embedder));
    describe("texts", () => texts(() => embedder));
    describe("lifetime", () => lifetime(() => embedder, open));
  });
}

function vectors(current: () => Embedder): void {
  it("says what its model is", () => {
    const { id, provider, dims, metric, tokensMax } = current().model;
    expect(id).not.toBe("");
    expect(provider).not.toBe("");
    expect(dims).toBeGreaterThan(0);
    expect(["cosine", "dot", "l2"]).toContain(metric);
    expect(tokensMax).toBeGreaterThan(0);
  });

  it("every vector has the model's dimension and finite numbers, and length 1 for cosine", async () => {
    const { dims, metric } = current().model;
    for (const kind of ["document", "query"] as const) {
      for (const vector of await current().embed(["A cat sat on the mat.", "Interest rates rose."], { kind })) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector).toHaveLength(dims);
        expect(vector.every(Number.isFinite)).toBe(true);
        if (metric === "cosine") expect(dot(vector, vector)).toBeCloseTo(1, 5);
      }
    }
  });

  it("the order of the vectors is the order of the texts", async () => {
    const some = ["one apple", "two pears", "three plums", "four cherries", "five grapes"];
    const together = await current().embed(some);
    const backwards = await current().embed(some.toReversed());
    expect(backwards.toReversed()).toEqual(together);
    expect(new Set(together.map(String)).size).toBe(some.length);
  });

  it("a text has one vector, whatever else is in the call, before or after it", async () => {
    const text = "The treaty was signed in 1648.";
    const [alone] = await current().embed([text]);
    const long = "a much longer neighbour with many more words ".repeat(20);
    const among = await current().embed([long, text, "", "short", text, long]);
    const [again] = await current().embed([text]);
    expect(among[1]).toEqual(alone);
    expect(among[4]).toEqual(alone);
    expect(again).toEqual(alone);
  });

  it("the same meaning is nearer than another", async () => {
    const [one, same, other] = await current().embed([
      "How old are you?",
      "What is your age?",
      "The train leaves from platform nine.",
    ]);
    expect(dot(one, same)).toBeGreaterThan(dot(one, other));
  });
}

function texts(current: () => Embedder): void {
  it("no texts, no vectors", async () => {
    expect(await current().embed([])).toEqual([]);
  });

  it("an empty text has a vector too, and so has white space", async () => {
    const found = await current().embed(["", " \n\t "]);
    for (const vector of found) expect(vector).toHaveLength(current().model.dims);
  });

  it("two texts that differ only past the model's limit have different vectors, or are rejected", async () => {
    const { tokensMax, dims, metric } = current().model;
    const tokenizer = await current().tokenizer();
    const count = (text: string) => tokenizer.words(text).tokens.reduce((sum, tokens) => sum + tokens, 0);
    // No word takes less than a token: as many words as the limit has tokens reach it.
    const start = "The history of the lighthouse begins with a fire on a rock, and ".repeat(Math.ceil(tokensMax / 13));
    expect(count(start)).toBeGreaterThanOrEqual(tokensMax);
    for (const kind of ["document", "query"] as const) {
      for (const [a, b] of [
        ["ends with a lamp.", "nobody knows how it ends, or why."],
        ["x", "y"],
      ] as const) {
        const [one, two] = await Promise.all(
          [`${start}${a}`, `${start}${b}`].map((text) => vectorOrRefusal(current(), text, kind)),
        );
        if (one === undefined || two === undefined) continue;
        expect(two).not.toEqual(one);
        expect(one).toHaveLength(dims);
        if (metric === "cosine") expect(dot(one, one)).toBeCloseTo(1, 5);
      }
    }
  });

  it("its tokenizer counts every word", async () => {
    const text = "Two words, 日本 and naïve";
    const { starts, ends, tokens } = (await current().tokenizer()).words(text);
    const seen = Array.from(starts, (start, i) => text.slice(start, ends[i])).join("");
    expect(seen).toBe(text.replaceAll(" ", ""));
    expect(tokens.every((count) => count > 0)).toBe(true);
  });

  it("any Unicode text works, even half of a surrogate pair", async () => {
    const some = [
      "Grüße aus Zürich",
      "日本語の文章",
      "نص عربي",
      "👩‍👩‍👧 🇩🇪 ❤️",
      "e\u0301\u0302",
      "\u0000\u0007\uFEFF",
      "half \uD83D of one",
    ];
    for (const vector of await current().embed(some)) expect(vector).toHaveLength(current().model.dims);
  });

  it(`${manyTexts} texts in one call`, async () => {
    const some = Array.from({ length: manyTexts }, (_, i) => `item ${i}`);
    const found = await current().embed(some);
    expect(found).toHaveLength(manyTexts);
    const [first, last] = await current().embed([some[0] as string, some[manyTexts - 1] as string]);
    expect(found[0]).toEqual(first);
    expect(found[manyTexts - 1]).toEqual(last);
  });

  it("concurrent calls do not interfere", async () => {
    const some = ["red", "green", "blue", "black"];
    const apart = await Promise.all(
      some.map((text, i) => current().embed([text], { kind: i % 2 === 0 ? "document" : "query" })),
    );
    const again = await Promise.all(
      some.map((text, i) => current().embed([text], { kind: i % 2 === 0 ? "document" : "query" })),
    );
    expect(again).toEqual(apart);
  });
}

function lifetime(current: () => Embedder, open: OpenEmbedder): void {
  it("a call that was aborted before or during its work fails with the abort reason", async () => {
    const reason = new Error("changed my mind");
    await expect(current().embed(["never"], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const call = current().embed(
      Array.from({ length: manyTexts }, (_, i) => `given up ${i}`),
      { signal: controller.signal },
    );
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(await current().embed(["still works"])).toHaveLength(1);
  });

  it("once closed it rejects calls at once and for good, and closing is idempotent", async () => {
    const other = await open();
    await other.embed(["before"]);
    const call = other.embed(Array.from({ length: manyTexts }, (_, i) => `cut off ${i}`));
    const refused = expect(call).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: false });
    await other.close();
    await refused;
    await expect(other.embed(["after"])).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: false });
    await other.close();
  });
}

/** Undefined: rejected, as the contract allows for a text that is too long. */
async function vectorOrRefusal(
  embedder: Embedder,
  text: string,
  kind: "document" | "query",
): Promise<Float32Array | undefined> {
  try {
    return (await embedder.embed([text], { kind }))[0];
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(INVALID|LIMIT_EXCEEDED)$/) });
    return undefined;
  }
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined) throw new Error("a vector is missing");
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}
