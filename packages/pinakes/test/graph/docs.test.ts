/** The examples of docs/graph.md, run as a reader would: its lines by a shell, its TypeScript as a program. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf, openGuide } from "../support/guide.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { forAllTests } from "../support/for-tests.ts";

const dir = temporaryFolder("guide");
const guide = forAllTests(() => openGuide(dir));

describe("docs/graph.md", () => {
  it("R-TG-120 R-TG-122 R-TG-123 R-TG-124 every line works, in its order, and answers what the page says", async () => {
    const blocks = await blocksOf("graph.md", "sh");
    expect(blocks).toHaveLength(9);
    const { calls, answers } = await guide.shell(blocks);
    expect(answers).toHaveLength(calls.length);
    for (const { status, text } of answers) expect([200, 201, 202, 204], text).toContain(status);
    const texts = answers.map(({ text }) => text);
    expect(JSON.parse(texts[2] as string)).toMatchObject({ read: 6, inserted: 6 });
    expect(
      texts
        .filter((text) => text.includes('"removed":'))
        .map((text) => (JSON.parse(text) as { removed: number }).removed),
    ).toEqual([0, 3, 1, 5]);
    expect(texts.some((text) => text.startsWith("g,triples"))).toBe(true);
    expect(texts).toContain('{"head":{},"boolean":true}');
    expect(texts[calls.findIndex((call) => call.includes("graphs?graph") && call.includes("accept"))]).toContain(
      '"hello"',
    );
    expect(texts[calls.findIndex((call) => call.includes("DESCRIBE"))]).toContain("Notes");
    const answerTo = (words: string) => texts[calls.findIndex((call) => call.includes(words))] as string;
    expect(answerTo("triples/provenance")).toContain('"quote":"name,role,machine\\nGrace,Admiral,Mark I');
    expect(JSON.parse(answerTo('"mode":"graph"'))).toMatchObject({
      mode_used: "graph",
      hits: expect.arrayContaining([
        expect.objectContaining({ citation: expect.objectContaining({ filename: "machines.ttl" }) }),
      ]),
      graph: { entities: [{ words: "Grace" }], edges: expect.arrayContaining([expect.objectContaining({ hop: 2 })]) },
    });
    expect(JSON.parse(answerTo('"weight":0.3'))).toMatchObject({
      mode_used: "hybrid",
      graph: { edges: { length: 5 } },
    });
    const output = await guide.output();
    for (const name of ["Ada", "Charles", "Grace"]) expect(output).toContain(name);
    expect(await readFile(join(dir, "people.nq"), "utf8")).toContain("<https://example.org/works>");
    expect(output).toMatch(/^s +p +o/m);
    expect(await readFile(join(dir, "people.ttl"), "utf8")).toContain("Charles");
  });

  it("the TypeScript is a program that runs", async () => {
    const printed = await guide.program(await blocksOf("graph.md", "ts"));
    expect(printed).toContain("https://example.org/ada Ada");
  });
});
