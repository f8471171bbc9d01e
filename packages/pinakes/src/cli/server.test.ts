/** Commands beside a running server, and commands that name one. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signLocalToken } from "../identity/index.ts";
import { collections } from "./commands/collections.ts";
import { containers } from "./commands/containers.ts";
import { doctor } from "./commands/doctor.ts";
import { documents } from "./commands/documents.ts";
import { fsck } from "./commands/fsck.ts";
import { keys } from "./commands/keys.ts";
import { metrics } from "./commands/metrics.ts";
import { repositories } from "./commands/repositories.ts";
import { cliFolder, failure } from "./terminal/test-terminal.ts";

const { base, env, call, json } = cliFolder("server");
const file = join(env.PINAKES_DATA, "server.json");

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** A process of its own with the settings of the folder, and nothing of this process's. */
function node(args: readonly string[], more: Readonly<Record<string, string>> = {}): Child {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PINAKES_")));
  return spawn(process.execPath, args, {
    cwd: base,
    env: { ...inherited, ...env, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function text(stream: Readable): Promise<string> {
  return Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString();
}

const [startScript, cliScript] = ["commands/start.ts", "pinakes.ts"].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
) as [string, string];
let server: Child;
let greeting = "";

async function start(): Promise<void> {
  server = node([startScript], { PINAKES_PORT: "0" });
  for await (const chunk of server.stdout.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    greeting += chunk.toString();
    if (greeting.includes("Stop ")) return;
  }
  throw new Error(`the server did not start: ${greeting}${await text(server.stderr)}`);
}

async function stop(signal: NodeJS.Signals): Promise<string> {
  const ended = Promise.all([text(server.stdout), text(server.stderr), once(server, "exit")]);
  server.kill(signal);
  return (await ended).slice(0, 2).join("");
}

interface AddressFile {
  readonly url: string;
  readonly pid: number;
  readonly secret: string;
}
const read = (): AddressFile => JSON.parse(readFileSync(file, "utf8")) as AddressFile;

/** The libraries that the process has loaded at its end: the model runs in one. */
const tellLibraries =
  "data:text/javascript,process.report.excludeNetwork=true;process.on('exit',()=>process.stderr.write('LIBRARIES'+JSON.stringify(process.report.getReport().sharedObjects)))";

async function search(): Promise<{ readonly out: string; readonly loadsModel: boolean }> {
  const child = node(["--import", tellLibraries, cliScript, "search", "how do I travel?", "--in", "kb/notes"]);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect(err).toContain("LIBRARIES");
  return { out: out.replaceAll(/\d+(\.\d+)? ms/g, "N ms"), loadsModel: err.includes("onnxruntime") };
}

const looks = [
  [repositories, ["list"]],
  [collections, ["show", "kb/notes"]],
  [collections, ["describe", "kb/notes"]],
  [documents, ["list", "kb/notes"]],
  [documents, ["show", "kb/notes", "north/travel.md", "--passages"]],
  [containers, ["show", "tickets"]],
  [metrics, ["list"]],
  [keys, ["list"]],
] as const;

const lookAround = (): Promise<readonly string[]> =>
  Promise.all(looks.map(async ([group, args]) => (await call(group, args)).out));

beforeAll(async () => {
  await start();
  writeFileSync(
    join(base, "m.ndjson"),
    `${JSON.stringify({ id: "m1", agent_id: "a", metric_type: "latency", value: 5 })}\nnot json\nnull\n`,
  );
});
afterAll(() => void server.kill("SIGKILL"));

describe("beside a running server", () => {
  let withServer: readonly string[] = [];
  let found = "";

  it("the address file is for its owner only, and its secret is printed nowhere", () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(read()).toMatchObject({ pid: server.pid, url: /listens on (http:\S+)/.exec(greeting)?.[1] });
    expect(greeting).not.toContain(read().secret);
  });

  it("commands act through the server, for any workspace and as any user, as they do on the stores", async () => {
    await call(repositories, ["create", "kb"]);
    await call(collections, ["create", "kb/notes"]);
    await call(containers, ["create", "tickets", "--partition", "/customer"]);
    await call(repositories, ["create", "theirs", "--workspace", "acme", "--user", "ada"]);
    expect(await json(repositories, "show", "theirs", "--workspace", "acme")).toMatchObject({ created_by: "ada" });
    expect((await failure(call(repositories, ["show", "theirs"]))).code).toBe("NOT_FOUND");
    expect((await failure(call(repositories, ["create", "no", "--role", "user"]))).code).toBe("FORBIDDEN");
    const { key } = await json<{ key: string }>(keys, "create", "--user", "ada", "--workspace", "acme");
    expect(
      await (await fetch(`${read().url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).json(),
    ).toMatchObject({ workspace_id: "acme" });
  });

  it("the server indexes what is added; files of a folder keep their paths", async () => {
    const trips = join(base, "trips", "north");
    mkdirSync(trips, { recursive: true });
    writeFileSync(join(trips, "travel.md"), "# Travel\n\nShe prefers to travel by train.");
    expect((await call(documents, ["add", "kb/notes", "trips"])).out).toContain("1 file added");
    expect((await failure(call(documents, ["add", "kb/none", "trips"]))).code).toBe("NOT_FOUND");
    const { code, out } = await call(metrics, ["ingest", "m.ndjson"]);
    expect([code, out.split("\n")[0]]).toEqual([1, "1 line accepted, 2 refused."]);
    expect(out).toContain("m.ndjson:2: is not JSON");
    expect(out).toContain("m.ndjson:3:");
    withServer = await lookAround();
  });

  it("a search answers without loading the model", async () => {
    const { out, loadsModel } = await search();
    expect(out).toContain("by train");
    expect(loadsModel).toBe(false);
    found = out;
  });

  it("its token is refused when a proxy passed it on, when it is old, signed with another secret, or offered for a session", async () => {
    const { url, secret } = read();
    const actor = { caller: { tenant: "default", userId: "root", role: "admin" as const } };
    const me = async (token: string, headers: Record<string, string> = {}) =>
      (await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}`, ...headers } })).status;
    const token = signLocalToken(secret, actor, Date.now());
    expect(await me(token)).toBe(200);
    expect(await me(token, { "x-forwarded-for": "10.0.0.9" })).toBe(401);
    expect(await me(signLocalToken(secret, actor, Date.now() - 3_600_000))).toBe(401);
    expect(await me(signLocalToken(`${secret}x`, actor, Date.now()))).toBe(401);
    expect(await me(`${token}x`)).toBe(401);
    const session = await fetch(`${url}/v1/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    expect(session.status).toBe(401);
    expect((await call(keys, ["list"])).out).not.toContain("pl_");
  });

  it("other stores than the server's are not asked of it", async () => {
    const { err } = await call(repositories, ["list", "--verbose"], {
      env: { ...env, PINAKES_ITEMS: "memory:", PINAKES_OBJECTS: "memory:" },
    });
    expect(err).toContain("that server has different stores");
  });

  it("after a crash the file is ignored, and the stores give the same answers", async () => {
    const { secret } = read();
    expect(await stop("SIGKILL")).not.toContain(secret);
    expect((await call(repositories, ["list", "--verbose"])).err).toContain("the server is no longer running");
    expect(await lookAround()).toEqual(withServer);
    const { out, loadsModel } = await search();
    expect(out).toBe(found);
    expect(loadsModel).toBe(true);
  });

  it("another process at the address is not believed, and learns no secret", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers);
      response.setHeader("x-pinakes-proof", "yes").end(JSON.stringify({ items: [], next_cursor: null }));
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const stale = read();
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    writeFileSync(file, JSON.stringify({ ...stale, pid: process.pid, url }));
    const { out, err } = await call(repositories, ["list", "--verbose"]);
    expect(err).toContain(`${url} is not the server that wrote it`);
    expect(out).toContain("kb");
    expect(seen).toHaveLength(1);
    expect(JSON.stringify(seen)).not.toContain(stale.secret);
    other.close();
    other.closeAllConnections();
  });

  it("a file that others can read, and a link, are ignored", async () => {
    const content = readFileSync(file);
    rmSync(file);
    writeFileSync(file, content, { mode: 0o640 });
    expect((await call(repositories, ["list", "--verbose"])).err).toContain("readable by no one else");
    rmSync(file);
    writeFileSync(`${file}.elsewhere`, content, { mode: 0o600 });
    symlinkSync(`${file}.elsewhere`, file);
    expect((await call(repositories, ["list", "--verbose"])).err).toContain("is ignored");
    rmSync(file);
  });
});

describe("a server by its address", () => {
  beforeAll(start);

  it("is asked with the key that --key or the environment gives; a wrong one is refused", async () => {
    const { url } = read();
    const { key } = await json<{ key: string }>(
      keys,
      "create",
      "--user",
      "ada",
      "--workspace",
      "acme",
      "--role",
      "admin",
    );
    const nowhere = { env: {}, cwd: join(base, "trips") };
    expect((await call(repositories, ["list", "--url", url, "--key", key], nowhere)).out).toContain("theirs");
    expect(
      (await call(repositories, ["list"], { ...nowhere, env: { PINAKES_URL: url, PINAKES_API_KEY: key } })).out,
    ).toContain("theirs");
    expect((await call(keys, ["list", "--url", url, "--key", key], nowhere)).out).toContain("ada");
    expect((await call(collections, ["list", "--url", url, "--key", key, "--q", "zzz"], nowhere)).out).toContain(
      `the workspace of the key at ${url}`,
    );
    expect(existsSync(join(base, "trips", "data"))).toBe(false);
    expect((await failure(call(repositories, ["list", "--url", url, "--key", "pk_no"], nowhere))).code).toBe(
      "UNAUTHENTICATED",
    );
    expect(
      (await failure(call(repositories, ["list", "--url", "http://127.0.0.1:1", "--key", key], nowhere))).code,
    ).toBe("UNAVAILABLE");
  });

  it("says who acts by the key alone; a key needs a server", async () => {
    const { url } = read();
    expect((await failure(call(repositories, ["list", "--url", url, "--workspace", "acme"]))).detail).toContain(
      "at a server the key determines the user",
    );
    expect((await failure(call(repositories, ["list", "--key", "pk_x"]))).detail).toContain("--url");
  });

  it("is refused by commands that need the stores themselves, with the reason", async () => {
    const { url } = read();
    for (const [group, args] of [
      [fsck, []],
      [doctor, []],
      [keys, ["rotate-root"]],
    ] as const)
      expect((await failure(call(group, [...args, "--url", url]))).detail).toMatch(
        /only works on the stores of this machine: \w/,
      );
  });

  it("deletes all documents of a collection once the id was typed, and tells totals", async () => {
    const all = ["delete", "kb/notes", "--all"];
    expect((await failure(call(documents, ["delete", "kb/notes"]))).detail).toContain("--all");
    expect((await failure(call(documents, all))).detail).toContain("--yes");
    expect((await failure(call(documents, all, { ask: async () => "no" }))).detail).toContain("nothing was changed");
    expect(await json(documents, "list", "kb/notes")).toMatchObject({ total: 1 });
    const { out } = await call(documents, all, { ask: async () => "notes" });
    expect(out).toContain('"deleted": 1');
    expect(await json(documents, "list", "kb/notes")).toMatchObject({ items: [], total: 0 });
    expect((await call(collections, ["list", "--limit", "1"])).out).toContain("the first 1 of 2");
    const pipelines = JSON.stringify([{ trigger: "schedule", source: "file:/etc" }]);
    expect((await failure(call(collections, ["create", "kb/fed", "--pipelines", pipelines]))).detail).toContain("/etc");
  });

  it("removes its file when it stops", async () => {
    await stop("SIGTERM");
    expect(existsSync(file)).toBe(false);
  });
});
