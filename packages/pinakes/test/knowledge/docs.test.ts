/** The examples of docs/knowledge.md, run as a reader would: its shell lines in one folder, its TypeScript as one program in another. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf, openGuide } from "../support/guide.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const dir = temporaryFolder("guide");

describe("docs/knowledge.md", () => {
  it("every shell line works, in its order, and a search finds what was uploaded", async () => {
    const guide = await openGuide(join(dir, "shell"));
    try {
      const { calls, answers } = await guide.shell(await blocksOf("knowledge.md", "sh"));
      expect(answers).toHaveLength(calls.length);
      expect(calls.length).toBeGreaterThan(10);
      for (const { status, text } of answers) expect([200, 201, 202], text).toContain(status);
      const found = answers[calls.findIndex((call) => call.includes("when do I promote"))]?.text as string;
      expect(JSON.parse(found)).toMatchObject({ outcome: "ok", hits: [{ citation: { filename: "failover.md" } }] });
      const lists = answers.filter(({ text }) => text.includes('"error":'));
      expect(lists.length).toBeGreaterThan(4);
      for (const { text } of lists) expect(text).toContain('"error":null');
    } finally {
      await guide.close();
    }
  });

  it("the TypeScript is a program that runs", async () => {
    const guide = await openGuide(join(dir, "program"));
    try {
      const printed = await guide.program(await blocksOf("knowledge.md", "ts"));
      expect(printed).toMatch(/^0\.\d+ failover\.md 0 \d+ # Failover/m);
      expect(printed).toContain("failover.md indexed");
      expect(printed).toMatch(/^\[ true/m);
    } finally {
      await guide.close();
    }
  });
});
