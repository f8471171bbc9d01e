/** The examples of the guides to clients of other products, run as a reader would. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf, openGuide } from "../support/guide.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const dir = temporaryFolder("client-guides");

describe("docs/clients.md", () => {
  it("every shell line works, in its order, and the catalog answers from the file", async () => {
    const { calls, answers } = await shellOf("clients.md");
    expect(calls).toHaveLength(3);
    expect(answers.at(-1)?.text).toContain("The barn owl hunts at night.");
  });

  it("the TypeScript is a program of the official clients that runs", async () => {
    const guide = await openGuide(join(dir, "program"));
    try {
      const printed = await guide.program(await blocksOf("clients.md", "ts"));
      expect(printed).toContain("hits:");
      expect(printed).toContain("owls.md");
      expect(printed).toMatch(/^12$/m);
    } finally {
      await guide.close();
    }
  });
});

it("docs/lisa.md: every shell line works", async () => {
  const { answers } = await shellOf("lisa.md");
  expect(answers.map(({ text }) => text)).toMatchObject([
    "[]",
    expect.stringContaining('"modelType":"embedding"'),
    expect.stringContaining('"key":"note.txt"'),
  ]);
});

it("docs/trustgraph.md: every shell line works, in its order", async () => {
  const { calls, answers } = await shellOf("trustgraph.md");
  const answerTo = (words: string) => answers[calls.findIndex((call) => call.includes(words))]?.text;
  expect(answerTo("update-collection")).toContain('"name":"Research"');
  expect(answerTo("text-load")).toBe("{}");
  expect(answerTo("service/triples")).toBe('{"response":[]}');
  expect(answerTo("list-documents")).toBe('{"document-metadatas":[]}');
  expect(answerTo("act_as")).toContain('"act_as":["ann","ben"]');
});

/** All answers are successes. */
async function shellOf(page: string) {
  const guide = await openGuide(join(dir, page));
  try {
    const { calls, answers } = await guide.shell(await blocksOf(page, "sh"));
    expect(answers).toHaveLength(calls.length);
    for (const { status, text } of answers) expect([200, 201, 202], text).toContain(status);
    return { calls, answers };
  } finally {
    await guide.close();
  }
}
