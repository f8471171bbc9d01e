import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { keys } from "./keys.ts";
import { failure, run } from "../terminal/test-terminal.ts";

const base = temporaryFolder("start");

const script = fileURLToPath(new URL("start.ts", import.meta.url));

function start(env: Record<string, string>): ChildProcessByStdio<null, Readable, Readable> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PINAKES_")));
  return spawn(process.execPath, [script], {
    env: { ...inherited, PINAKES_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function end(
  child: ChildProcessByStdio<null, Readable, Readable>,
): Promise<{ code: number | null; out: string; err: string }> {
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

/** Waits for the address that the greeting prints. */
async function address(
  child: ChildProcessByStdio<null, Readable, Readable>,
): Promise<{ url: string; greeting: string }> {
  let greeting = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    greeting += chunk.toString();
    if (greeting.includes("Stop ")) break;
  }
  const url = /listens on (http:\S+)/.exec(greeting)?.[1];
  if (url === undefined) throw new Error(`no address in: ${greeting}`);
  return { url, greeting };
}

describe("npm start", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "serves with embedded stores, tells what to try, and closes cleanly on %s",
    async (signal) => {
      const child = start({ PINAKES_DATA: join(base, signal) });
      const { url, greeting } = await address(child);
      expect(greeting).toContain(`AT=${url}/v1/repositories/me/collections`);
      const token = readFileSync(join(base, signal, "root-token"), "utf8").trim();
      // Terminals and logs keep what is printed: where the key is, never the key.
      expect(greeting).toContain(`${join(base, signal, "root-token")} (readable by its owner only)`);
      expect(greeting).not.toContain(token);
      expect(statSync(join(base, signal, "root-token")).mode & 0o777).toBe(0o600);
      expect(
        await (await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).json(),
      ).toMatchObject({ role: "admin", via: "root" });
      expect(greeting).toContain(join(base, signal, "objects"));
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(await (await fetch(`${url}/v1/info`)).json()).toMatchObject({ items: { engine: "sqlite" } });
      child.kill(signal);
      const { code, out, err } = await end(child);
      expect(code).toBe(0);
      // Nothing stands above the greeting but what somebody should know; the same lines at every start are for who asks for them.
      expect(`${greeting}${err}`).not.toContain("system scope");
      expect(out).toContain(`${signal}: closing.`);
    },
  );

  it("pinakes keys rotate-root asks, and the running server takes the new token, and the old one is refused", async () => {
    const data = join(base, "rotated");
    const child = start({ PINAKES_DATA: data });
    const { url } = await address(child);
    const read = () => readFileSync(join(data, "root-token"), "utf8").trim();
    const me = async (token: string) =>
      (await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;
    const old = read();
    expect(await me(old)).toBe(200);
    const env = { PINAKES_DATA: data };
    const asked: string[] = [];
    const answering = (answer: string) => ({
      env,
      ask: async (question: string) => {
        asked.push(question);
        return answer;
      },
    });
    expect((await failure(run(keys, ["rotate-root"], answering("n")))).detail).toContain("nothing was changed");
    expect(asked).toEqual([expect.stringContaining("The root token will be replaced")]);
    expect(read()).toBe(old);
    expect(
      (await failure(run(keys, ["rotate-root", "--yes"], { env: { ...env, PINAKES_ROOT_TOKEN: "x" } }))).detail,
    ).toContain("PINAKES_ROOT_TOKEN");
    expect(
      (await failure(run(keys, ["rotate-root", "--yes"], { env: { PINAKES_DATA: join(base, "nowhere") } }))).code,
    ).toBe("NOT_FOUND");
    const { code, out } = await run(keys, ["rotate-root", "--yes", "--json"], { env });
    expect([code, JSON.parse(out)]).toEqual([0, { file: join(data, "root-token") }]);
    expect(out).not.toContain(read());
    expect(read()).not.toBe(old);
    expect(statSync(join(data, "root-token")).mode & 0o777).toBe(0o600);
    while ((await me(old)) === 200) await new Promise((resolve) => void setTimeout(resolve, 200));
    expect([await me(old), await me(read())]).toEqual([401, 200]);
    child.kill("SIGTERM");
    expect((await end(child)).out).not.toContain(read());
  });

  it("PINAKES_LOG_LEVEL=debug tells of the system scopes", async () => {
    const child = start({
      PINAKES_ITEMS: "memory:",
      PINAKES_OBJECTS: "memory:",
      PINAKES_DATA: join(base, "debug"),
      PINAKES_LOG_LEVEL: "debug",
    });
    const { greeting } = await address(child);
    child.kill("SIGTERM");
    const { out, err } = await end(child);
    expect(`${greeting}${out}${err}`).toContain("background work under a system scope");
  });

  it("a taken port is one clear line and exit code 1", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const { port } = blocker.address() as AddressInfo;
    const { code, err } = await end(
      start({ PINAKES_PORT: String(port), PINAKES_ITEMS: "memory:", PINAKES_OBJECTS: "memory:" }),
    );
    blocker.close();
    expect(code).toBe(1);
    expect(complaints(err)).toEqual([
      `pinakes: Port ${port} on 127.0.0.1 is in use. Stop the other process, or choose another port with PINAKES_PORT.`,
    ]);
  });

  it("a data folder that cannot be used is one clear line and exit code 1", async () => {
    const file = join(base, "a-file");
    await writeFile(file, "");
    for (const folder of [file, join(file, "below")]) {
      const { code, err } = await end(start({ PINAKES_DATA: folder }));
      expect(code).toBe(1);
      expect(complaints(err)).toEqual([expect.stringContaining(`pinakes: The data folder ${folder} cannot be used`)]);
    }
  });

  it("a wrong or unknown setting is one clear line and exit code 1", async () => {
    const wrong = await end(start({ PINAKES_PORT: "many" }));
    expect(wrong.code).toBe(1);
    expect(complaints(wrong.err)).toEqual([
      'pinakes: PINAKES_PORT: a number from 0 (any free port) to 65535, got "many".',
    ]);
    const unknown = await end(start({ PINAKES_DATE: "./data" }));
    expect(unknown.code).toBe(1);
    expect(complaints(unknown.err)).toEqual([expect.stringContaining("did you mean PINAKES_DATA?")]);
  });
});

/** The lines of stderr that are no log lines. */
function complaints(err: string): string[] {
  return err.split("\n").filter((line) => line !== "" && !/^\d{4}-\d\d-\d\dT/.test(line));
}
