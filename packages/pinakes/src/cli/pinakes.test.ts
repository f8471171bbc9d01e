import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";

// Many processes or openings of the stores in one test: a busy machine takes its time.
const base = temporaryFolder("program");
const script = fileURLToPath(new URL("pinakes.ts", import.meta.url));
type Child = ChildProcessByStdio<null, Readable, Readable>;

function begin(args: readonly string[], env: Record<string, string> = {}): Child {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PINAKES_")));
  return spawn(process.execPath, [script, ...args], {
    cwd: base,
    env: { ...inherited, PINAKES_DATA: join(base, "data"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function end(child: Child): Promise<{ code: number | null; out: string; err: string }> {
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<[number | null]>,
  ]);
  return { code, out, err };
}

async function text(stream: Readable): Promise<string> {
  return Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString();
}

/** Until the stream has said it. */
async function said(stream: Readable, what: string): Promise<string> {
  let heard = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    heard += chunk.toString();
    if (heard.includes(what)) return heard;
  }
  throw new Error(`ended without "${what}": ${heard}`);
}

/** Ends by itself: a process that something keeps alive would run into the time limit of the test. */
const run = (...args: string[]) => end(begin(args));

beforeAll(async () => {
  await mkdir(join(base, "docs"));
  for (const name of ["one", "two", "three"])
    await writeFile(join(base, `docs/${name}.md`), `# ${name}\n\nThis is document ${name} about lighthouses.\n`);
});

describe("the program pinakes", () => {
  it("R-TG-107 lists all commands; a mistake on the command line is exit code 2 with a hint, and nothing on stdout", async () => {
    const help = await run("--help");
    expect(help).toMatchObject({ code: 0, err: "" });
    for (const name of [
      "start",
      "doctor",
      "keys",
      "repositories",
      "collections",
      "documents",
      "search",
      "chunk",
      "jobs",
      "eval",
      "vectors",
    ])
      expect(help.out).toContain(`\n  ${name}`);
    expect(await run("serach")).toEqual({
      code: 2,
      out: "",
      err: 'pinakes: there is no command "serach"; did you mean "search"? See pinakes --help.\n',
    });
    const flag = await run("documents", "add", "kb/x", "docs", "--replce");
    expect(flag).toEqual({
      code: 2,
      out: "",
      err: "pinakes: there is no option --replce; did you mean --replace? See pinakes documents add --help.\n",
    });
    expect(await run("documents", "ad")).toMatchObject({
      code: 2,
      err: expect.stringContaining('"documents add"') as string,
    });
    expect(await run("documents", "add", "--help")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Examples") as string,
    });
    expect(await run("serve", "--prot", "1")).toMatchObject({ code: 2, out: "" });
  });

  it("R-TG-107 an error of ours is one line on stderr and exit code 1, also with --json", async () => {
    const { code, out, err } = await run("collections", "show", "kb/none", "--json");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^pinakes: There is no [^\n]+\n$/);
  });

  it("R-TG-107 --json prints one document on stdout and nothing else; each command ends by itself", async () => {
    const steps = [
      ["repositories", "create", "kb"],
      ["collections", "create", "kb/lights"],
      ["documents", "add", "kb/lights", "docs"],
      ["search", "lighthouses", "--in", "kb/lights"],
      ["chunk", "docs/one.md"],
      ["keys", "list"],
      ["jobs", "list"],
    ];
    for (const step of steps) {
      const { code, out } = await run(...step, "--json", "--verbose");
      expect(JSON.parse(out), step.join(" ")).toBeTypeOf("object");
      expect(code, step.join(" ")).toBe(0);
    }
  });

  it("adds documents while a server works on the same folder, which finds them", async () => {
    const server = begin(["serve"], { PINAKES_PORT: "0", PINAKES_ROOT_TOKEN: "root-token-of-the-test-of-the-program" });
    try {
      const url = /listens on (http:\S+)/.exec(await said(server.stdout, "Stop "))?.[1] ?? "";
      await writeFile(join(base, "beside.txt"), "Herons stand in shallow water.");
      expect(await run("collections", "create", "kb/birds")).toMatchObject({ code: 0 });
      const added = await run("documents", "add", "kb/birds", "beside.txt", "docs");
      expect(added).toMatchObject({ code: 0, out: expect.stringContaining("4 files added as 4 passages") as string });
      const headers = {
        authorization: "Bearer root-token-of-the-test-of-the-program",
        "content-type": "application/json",
      };
      const body = JSON.stringify({ query: "herons", limit: 1 });
      const answer = await fetch(`${url}/v1/repositories/kb/collections/birds/search`, {
        method: "POST",
        headers,
        body,
      });
      expect(await answer.json()).toMatchObject({ hits: [{ citation: { filename: "beside.txt" } }] });
    } finally {
      server.kill("SIGINT");
    }
    expect((await end(server)).code).toBe(0);
  });

  it("Ctrl-C while it waits: exit code 130, and what is stored stays", async () => {
    expect(await run("collections", "create", "kb/pending")).toMatchObject({ code: 0 });
    expect(await run("documents", "add", "kb/pending", "docs", "--no-wait")).toMatchObject({ code: 0 });
    const waiting = begin(["documents", "wait", "kb/pending", "--verbose"]);
    await said(waiting.stderr, "background work");
    waiting.kill("SIGINT");
    expect((await end(waiting)).code).toBe(130);
    const { documents_by_status: states } = JSON.parse(
      (await run("collections", "show", "kb/pending", "--json")).out,
    ) as {
      documents_by_status: Record<string, number>;
    };
    expect(Object.values(states).reduce((a, b) => a + b, 0)).toBe(3);
    expect(await run("documents", "wait", "kb/pending")).toMatchObject({ code: 0, out: "3 documents, 3 passages.\n" });
  });
});
