/** Starts the server of a bench and makes client calls to it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../../packages/pinakes/src/drivers/postgres/test-server.ts";

export interface StateServer extends AsyncDisposable {
  readonly engine: "SQLite" | "PostgreSQL";
  readonly url: string;
  readonly key: string;
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** The same with a JSON text as body and an answer that is not parsed: client and server share the machine, and the server is measured. */
  send(method: string, path: string, json?: string): Promise<void>;
  /** Of the store's files; undefined for an external server. */
  bytes(): number | undefined;
}

const token = "a-token-that-is-only-for-this-bench-0123456789";

const engines = (process.env["STATE_ENGINES"]?.split(",") ?? [
  "SQLite",
  "PostgreSQL",
]) as readonly StateServer["engine"][];

/** One after the other on each engine, each in a fresh store. `STATE_ENGINES=PostgreSQL` for one of them. */
export async function onEachEngine<T>(work: (server: StateServer) => Promise<readonly T[]>): Promise<T[]> {
  const rows: T[] = [];
  for (const engine of engines) {
    await using server = await start(engine);
    rows.push(...(await work(server)));
  }
  return rows;
}

async function start(engine: StateServer["engine"]): Promise<StateServer> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-state-"));
  const postgres = engine === "PostgreSQL" ? await startPostgres() : undefined;
  const child = fork(fileURLToPath(new URL("server-process.ts", import.meta.url)), [dir, postgres?.url ?? "", token]);
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  const agent = new Agent({ keepAlive: true });
  return {
    engine,
    url,
    key: token,
    call: async (method, path, body) => {
      const raw = typeof body === "string";
      const text = body === undefined || raw ? body : JSON.stringify(body);
      const answer = await ask({
        url,
        agent,
        method,
        path,
        body: text as string | undefined,
        type: raw ? "application/x-ndjson" : "application/json",
      });
      return answer.length === 0 ? undefined : JSON.parse(answer.toString());
    },
    send: async (method, path, json) =>
      void (await ask({ url, agent, method, path, body: json, type: "application/json" })),
    bytes: () => (postgres === undefined ? folderBytes(dir) : undefined),
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      const ended = once(child, "exit");
      child.send("close");
      await ended;
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface Question {
  readonly url: string;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly type: string;
}

/** By node:http: half of the cost of fetch. */
async function ask(question: Question): Promise<Buffer> {
  const { url, agent, method, path, body, type } = question;
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const headers = {
    authorization: `Bearer ${token}`,
    ...(bytes === undefined ? {} : { "content-type": type, "content-length": bytes.length }),
  };
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { method, agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        const answer = Buffer.concat(parts);
        if ((response.statusCode ?? 500) < 400) resolve(answer);
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer.toString().slice(0, 500)}`));
      });
    });
    asked.on("error", (error: NodeJS.ErrnoException) => {
      // The server had closed an idle connection, and this process was too busy to see it.
      const stale = asked.reusedSocket && (error.code === "EPIPE" || error.code === "ECONNRESET");
      if (stale) ask(question).then(resolve, reject);
      else reject(error);
    });
    asked.end(bytes);
  });
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
