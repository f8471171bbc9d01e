/** Starts the server of a bench and calls it as a client does. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../../packages/pinakes/src/drivers/postgres/test-server.ts";

export interface StateServer extends AsyncDisposable {
  readonly engine: "SQLite" | "PostgreSQL";
  readonly url: string;
  readonly key: string;
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Of the store's files; undefined where it is a server's. */
  bytes(): number | undefined;
}

const token = "a-token-that-is-only-for-this-bench-0123456789";

/** One after the other on each engine, each in a fresh store. */
export async function onEachEngine<T>(work: (server: StateServer) => Promise<readonly T[]>): Promise<T[]> {
  const rows: T[] = [];
  for (const engine of ["SQLite", "PostgreSQL"] as const) {
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
  return {
    engine,
    url,
    key: token,
    call: async (method, path, body) => {
      const raw = typeof body === "string";
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": raw ? "application/x-ndjson" : "application/json" }),
      };
      const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }) });
      const answer: unknown = response.status === 204 ? undefined : await response.json();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer).slice(0, 500)}`);
      return answer;
    },
    bytes: () => (postgres === undefined ? folderBytes(dir) : undefined),
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      child.send("close");
      await ended;
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
