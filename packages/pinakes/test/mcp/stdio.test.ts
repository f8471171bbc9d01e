/** `pinakes mcp` as desktop clients start it: the official transport spawns it and speaks to it on stdin and stdout. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPostgres } from "../../src/drivers/postgres/test-server.ts";
import type { Json } from "../http/support/server.ts";
import { tools } from "../../src/mcp/tools/index.ts";
import { forAllTests } from "../support/for-tests.ts";
import { until } from "../support/until.ts";
import {
  base64,
  call,
  engines,
  metadataOf,
  newClient,
  revisions,
  succeed,
  useWorld,
  type Engine,
  type Revision,
} from "./support/mcp-world.ts";

const pinakes = fileURLToPath(new URL("../../src/cli/pinakes.ts", import.meta.url));
const startScript = fileURLToPath(new URL("../../src/cli/commands/start.ts", import.meta.url));
const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pinakes-mcp-stdio-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Nothing of this process's settings. */
function environment(more: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("PINAKES_"));
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...more };
}

interface Spawned extends AsyncDisposable {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  readonly stderr: () => string;
}

async function connect(
  revision: Revision,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  client = newClient(revision),
): Promise<Spawned> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [pinakes, "mcp", ...args],
    env: environment(env),
    cwd: folder,
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  await client.connect(transport);
  return { client, transport, stderr: () => stderr, [Symbol.asyncDispose]: () => client.close() };
}

async function catalogWith(client: Client, name: string): Promise<string> {
  const { catalog_id } = metadataOf(await succeed(client, "create_catalog", { catalog_name: name }));
  const file = { filename: "otters.txt", file_content: base64("Otters hold hands while they sleep.") };
  await succeed(client, "upload_to_catalog", { catalog_id, ...file });
  await until(async () => {
    const { metadata } = await succeed(client, "get_indexing_status", { catalog_id });
    return ((metadata as Json)["statistics"] as Json)["documents_indexed"] === 1;
  }, 100);
  return catalog_id as string;
}

/** Changes through the tools of the same connection; a workflow that nobody asked about is not told of. */
async function expectSubscriptions({ client, stderr }: Spawned, revision: Revision): Promise<void> {
  const create = async (): Promise<string> => {
    const { workflow } = await succeed(client, "workflow_create", { type: "sequential", name: "W", total_steps: 9 });
    return (workflow as Json)["workflow_id"] as string;
  };
  const [wanted, other] = [await create(), await create()];
  const uri = `state://workflows/${wanted}`;
  const heard = new Set<string>();
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.add(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void heard.add("list"));
  if (revision === "2025-11-25") await client.subscribeResource({ uri });
  else await client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri] });
  for (const workflow_id of [other, wanted])
    await succeed(client, "workflow_update", { workflow_id, change: { description: "changed" } });
  await succeed(client, "create_catalog", { catalog_name: `Told ${revision} ${wanted.slice(-8)}` });
  await expect.poll(() => [...heard].toSorted()).toEqual(["list", uri]);
  expect(stderr()).toBe("");
}

const postgres = forAllTests(() => startPostgres());

/** Stores of a test: a folder, on PostgreSQL for the objects alone. */
function storesOn(engine: Engine, name: string): Readonly<Record<string, string>> {
  const data = join(folder, `${engine}-${name}`);
  const items = {
    PINAKES_ITEMS: postgres.url,
    PINAKES_DATABASE: name,
    PINAKES_OBJECTS: `file:${join(data, "objects")}`,
  };
  return { PINAKES_DATA: data, ...(engine === "PostgreSQL" ? items : {}) };
}

describe.each(engines)("on the stores of this machine, on %s", (engine) => {
  it.each(revisions)(
    "R-KB-42 at %s: every tool and resource; what was selected ends with the process",
    async (revision) => {
      const env = storesOn(engine, `own-${revision}`);
      let catalog_id = "";
      {
        await using one = await connect(revision, env);
        expect(one.client.getNegotiatedProtocolVersion()).toBe(revision);
        expect((await one.client.listTools()).tools).toHaveLength(tools.length);
        catalog_id = await catalogWith(one.client, "Otters");
        expect(
          metadataOf(await succeed(one.client, "select_catalog", { catalog_id }))["selection_handle"],
        ).toBeUndefined();
        const asked = metadataOf(await succeed(one.client, "query_catalog", { query: "how do otters sleep?" }));
        expect(asked["sources"]).toMatchObject([{ filename: "otters.txt" }]);
        expect((await one.client.listResources()).resources).toMatchObject([{ title: "Otters" }]);
        expect(one.stderr()).toBe("");
      }
      await using two = await connect(revision, env);
      expect(metadataOf(await succeed(two.client, "list_catalogs"))["catalog_count"]).toBe(1);
      const forgotten = await call(two.client, "query_catalog", { query: "how do otters sleep?" });
      expect(metadataOf(forgotten.structured)["error_code"]).toBe("NO_CATALOG_SELECTED");
      // Another user of the same stores.
      await using bob = await connect(revision, env, ["--user", "bob", "--role", "user"]);
      expect(metadataOf(await succeed(bob.client, "list_catalogs"))["catalog_count"]).toBe(0);
      expect((await call(bob.client, "list_catalog_documents", { catalog_id })).isError).toBe(true);
    },
  );

  it("asks the client's user before it deletes", async () => {
    const env = storesOn(engine, "asking");
    for (const revision of revisions) {
      const asked: string[] = [];
      const client = newClient(revision, (message) => {
        asked.push(message);
        return { action: "accept", content: { confirm: true } };
      });
      await using spawned = await connect(revision, env, [], client);
      const made = metadataOf(await succeed(spawned.client, "create_catalog", { catalog_name: `C ${revision}` }));
      await succeed(spawned.client, "delete_catalog", { catalog_id: made["catalog_id"] });
      expect(asked, revision).toHaveLength(1);
      expect(metadataOf(await succeed(spawned.client, "list_catalogs"))["catalog_count"]).toBe(0);
    }
  });

  it.each(revisions)("at %s tells of what changes, once it is subscribed to", async (revision) => {
    await using spawned = await connect(revision, storesOn(engine, `told-${revision}`));
    await expectSubscriptions(spawned, revision);
  });
});

describe("stdin and stdout", () => {
  it("answers many calls at once without a word on stderr", async () => {
    await using spawned = await connect("2025-11-25", { PINAKES_DATA: join(folder, "many") });
    const { client, stderr } = spawned;
    // Answers beyond what a pipe takes at once: each waits for the reader.
    const answers = await Promise.all(Array.from({ length: 40 }, () => client.request({ method: "tools/list" })));
    expect(answers).toHaveLength(40);
    expect(stderr()).toBe("");
  });

  it("writes nothing but JSON-RPC, answers what is no message, and ends with its input", async () => {
    const child = spawn(process.execPath, [pinakes, "mcp"], {
      env: environment({ PINAKES_DATA: join(folder, "raw") }),
      cwd: folder,
    });
    const said = text(child.stdout);
    const complained = text(child.stderr);
    const ended = once(child, "exit");
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    };
    const lines = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
      { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "list_catalogs", arguments: {} } },
      { jsonrpc: "2.0", id: 4, method: "no/such/method" },
    ];
    const answered = new Promise<void>((resolve) => {
      let seen = "";
      child.stdout.on("data", (chunk: Buffer) => {
        seen += chunk.toString();
        if ([1, 2, 3, 4].every((id) => seen.includes(`"id":${id}`))) resolve();
      });
    });
    child.stdin.write("this is no message\n\n");
    for (const line of lines) child.stdin.write(`${JSON.stringify(line)}\n`);
    await answered;
    child.stdin.end();
    expect(await ended).toEqual([0, null]);
    const messages = (await said)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Json);
    expect(messages.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    expect(messages.find(({ id }) => id === 4)).toMatchObject({ error: { code: -32_601 } });
    expect(await complained).not.toContain("Warning");
  });

  it("ends when a message is beyond the limit, instead of waiting for ever", async () => {
    const child = spawn(process.execPath, [pinakes, "mcp"], {
      env: environment({ PINAKES_DATA: join(folder, "beyond") }),
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin.on("error", () => {});
    const ended = once(child, "exit");
    child.stdin.write("x".repeat(17 * 1_048_576));
    expect(await ended).toEqual([0, null]);
  });
});

describe("beside a server", () => {
  it("beside a running server on the same folder it goes through that server", async () => {
    const env = { PINAKES_DATA: join(folder, "shared") };
    const server = spawn(process.execPath, [startScript], {
      env: environment({ ...env, PINAKES_PORT: "0" }),
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const log = logged(server);
    await until(async () => log().includes("Stop "), 50);
    for (const revision of revisions) {
      await using spawned = await connect(revision, env);
      await succeed(spawned.client, "create_catalog", { catalog_name: `Through ${revision}` });
      expect(metadataOf(await succeed(spawned.client, "list_catalogs"))["catalog_count"]).toBeGreaterThan(0);
    }
    // The server has answered the calls.
    expect(log()).toContain("/v1/repositories/{rid}/collections");
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    await ended;
    // Gone, its stores are opened by the next process itself.
    await using alone = await connect("2026-07-28", env);
    expect(metadataOf(await succeed(alone.client, "list_catalogs"))["catalog_count"]).toBe(2);
  });
});

describe.each(engines)("through a server on %s", (engine) => {
  const opened = useWorld(engine);

  it("with --url and --key it acts for the key, whose rights and errors count", async () => {
    const world = opened();
    const key = await world.key("w1", "ann");
    const address = ["--url", world.url];
    for (const revision of revisions) {
      await using spawned = await connect(revision, {}, [...address, "--key", key]);
      const catalog_id = await catalogWith(spawned.client, `At ${revision}`);
      await succeed(spawned.client, "select_catalog", { catalog_id });
      expect((await call(spawned.client, "query_catalog", { query: "how do otters sleep?" })).isError).toBe(false);
      const missing = await call(spawned.client, "workflow_get", { workflow_id: "none" });
      expect(missing.text).toMatch(/^NOT_FOUND: /);
      await expect(spawned.client.readResource({ uri: "state://workflows/none" })).rejects.toMatchObject({
        code: -32_602,
      });
      const { items } = await world.ok(key, "GET", "/v1/repositories/me/collections");
      expect((items as Json[]).map(({ name }) => name)).toContain(`At ${revision}`);
    }
    for (const revision of revisions) {
      await using spawned = await connect(revision, {}, [...address, "--key", key]);
      await expectSubscriptions(spawned, revision);
    }
    const reader = await world.key("w1", "ann", { scopes: ["read"] });
    await using reading = await connect("2026-07-28", { PINAKES_URL: world.url, PINAKES_KEY: reader });
    expect((await call(reading.client, "create_catalog", { catalog_name: "No" })).text).toMatch(/^FORBIDDEN: /);
    await expect(
      run(process.execPath, [pinakes, "mcp", ...address, "--key", "pk_wrong"], { env: environment({}) }),
    ).rejects.toMatchObject({
      code: expect.any(Number),
      stdout: "",
      stderr: expect.stringMatching(/key/i),
    });
  });
});

describe("--install", () => {
  /** What each client is told to start. */
  async function installed(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Json[]> {
    const { stdout } = await run(process.execPath, [pinakes, "mcp", "--install", "--json", ...args], {
      env: environment(env),
      cwd: folder,
    });
    return JSON.parse(stdout) as Json[];
  }

  it("prints JSON that parses, and shell lines whose words survive a shell, for every client", async () => {
    const odd = join(folder, "a folder with 'quotes' $HOME `x` \"and\" ünïcødé");
    const clients = await installed(["--user", "o'neil & sons"], { PINAKES_DATA: odd });
    expect(clients.map(({ client }) => client)).toEqual([
      "Claude Desktop",
      "Claude Code",
      "Cursor",
      "VS Code",
      "Windsurf",
      "Zed",
      "Codex CLI",
      "Gemini CLI",
    ]);
    const launch = [process.execPath, pinakes, "mcp", "--user", "o'neil & sons"];
    for (const { client, place, text: shown } of clients as { client: string; place: string; text: string }[]) {
      if (place === "in a shell") {
        const [program, ...words] = shown.split(" ");
        const { stdout } = await run("sh", ["-c", `printf '%s\\0' ${words.join(" ")}`]);
        const seen = stdout.split("\0").slice(0, -1);
        expect(["claude", "codex"], client).toContain(program);
        expect(seen.slice(seen.indexOf("--") + 1), client).toEqual(launch);
        expect(seen[seen.indexOf("--env") + 1], client).toBe(`PINAKES_DATA=${odd}`);
        expect(seen, client).toContain("pinakes");
        continue;
      }
      const [servers] = Object.values(JSON.parse(shown) as Record<string, Record<string, Json>>);
      expect(servers?.["pinakes"], client).toMatchObject({
        command: process.execPath,
        args: launch.slice(1),
        env: { PINAKES_DATA: odd },
      });
    }
  });

  it("names the data folder by its absolute path, or the server and its key", async () => {
    const relative = (await installed([], { PINAKES_DATA: "here" }))[0]?.["text"] as string;
    expect(relative).toContain(JSON.stringify(join(folder, "here")));
    const remote = (await installed(["--url", "https://pinakes.example", "--key", "pk_1"]))[0]?.["text"] as string;
    const { mcpServers } = JSON.parse(remote) as { mcpServers: { pinakes: Json } };
    expect(mcpServers.pinakes["env"]).toEqual({ PINAKES_URL: "https://pinakes.example", PINAKES_KEY: "pk_1" });
  });

  it("is a configuration that works: a client starts what it prints", async () => {
    const data = join(folder, "installed");
    const [desktop] = await installed([], { PINAKES_DATA: data });
    const { mcpServers } = JSON.parse(desktop?.["text"] as string) as {
      mcpServers: { pinakes: { command: string; args: string[]; env: Record<string, string> } };
    };
    const { command, args, env } = mcpServers.pinakes;
    const client = newClient("2025-11-25");
    // Started in any folder, as clients do.
    await client.connect(new StdioClientTransport({ command, args, env, cwd: "/", stderr: "ignore" }));
    await succeed(client, "create_catalog", { catalog_name: "Installed" });
    await client.close();
    expect(await readFile(join(data, "pinakes.sqlite")).catch(async () => (await run("ls", [data])).stdout)).not.toBe(
      "",
    );
  });
});

function logged(child: ChildProcess): () => string {
  let seen = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => void (seen += chunk.toString()));
  return () => seen;
}
