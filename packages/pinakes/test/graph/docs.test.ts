/**
 * Executes the lines of docs/graph.md like a reader: in a shell, with curl and the command line, against a server on a port and its stores.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createApp } from "../../src/http/app.ts";
import { serve, type RunningServer } from "../../src/http/serve.ts";
import { open, type Pinakes } from "../../src/open.ts";

const shell = promisify(execFile);
const cli = fileURLToPath(new URL("../../src/cli/pinakes.ts", import.meta.url));
const rootToken = "root-token-of-the-guide-0123456789";

const dir = temporaryFolder("guide");
let pinakes: Pinakes;
let server: RunningServer;
beforeAll(async () => {
  await mkdir(join(dir, "data"));
  await writeFile(join(dir, "data/root-token"), rootToken);
  pinakes = await open({ dir: join(dir, "data"), rootToken });
  server = await serve(await createApp(pinakes), { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await server?.close();
  await pinakes?.close();
});

describe("docs/graph.md", () => {
  it("R-TG-120 R-TG-122 R-TG-123 every line works, in order, and answers what the page says", async () => {
    const page = await readFile(new URL("../../../../docs/graph.md", import.meta.url), "utf8");
    const blocks = [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, text]) => text as string);
    expect(blocks).toHaveLength(9);
    const script = blocks
      .join("\n")
      .replaceAll("http://127.0.0.1:7430", server.url)
      .replaceAll("curl ", "curl -sS -w '\\n%{http_code}\\n' ");
    // Output of the command line goes to a file: stdout is read as answers of the server.
    const npx = `npx() { shift; "${process.execPath}" "${cli}" "$@" >> told.txt; }`;
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PINAKES_")));
    const { stdout } = await shell("bash", ["-eu", "-c", `${npx}\n${script}`], { cwd: dir, env });
    const answers = [...stdout.matchAll(/([^]*?)\n(\d{3})\n/g)].map(([, text, status]) => ({
      status: Number(status),
      text: text as string,
    }));
    const calls = blocks.join("").match(/^curl .*/gm) ?? [];
    expect(answers).toHaveLength(calls.length);
    for (const { status, text } of answers) expect([200, 201, 202], text).toContain(status);
    const texts = answers.map(({ text }) => text.trim());
    expect(JSON.parse(texts[2] as string)).toMatchObject({ read: 6, inserted: 6 });
    expect(
      texts
        .filter((text) => text.includes('"removed":'))
        .map((text) => (JSON.parse(text) as { removed: number }).removed),
    ).toEqual([0, 3, 1, 5]);
    expect(texts.some((text) => text.startsWith("g,triples"))).toBe(true);
    expect(texts).toContain('{"head":{},"boolean":true}');
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
    const told = await readFile(join(dir, "told.txt"), "utf8");
    for (const name of ["Ada", "Charles", "Grace"]) expect(told).toContain(name);
    expect(await readFile(join(dir, "people.nq"), "utf8")).toContain("<https://example.org/works>");
    expect(told).toMatch(/^s +p +o/m);
    expect(await readFile(join(dir, "people.ttl"), "utf8")).toContain("Charles");
  });
});
