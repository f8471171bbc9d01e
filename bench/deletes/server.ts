/** Starts the server on stores of its own, and calls it as a client does. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../../packages/pinakes/src/drivers/postgres/test-server.ts";
import { dims, startEmbeddings } from "./embeddings.ts";

export const engines = ["SQLite", "PostgreSQL"] as const;
export type Engine = (typeof engines)[number];

export interface DeletesServer extends AsyncDisposable {
  readonly engine: Engine;
  /** Of the embedded stores. */
  readonly dir: string;
  /** Undefined if the items are in the folder, too. */
  readonly postgresUrl: string | undefined;
  call<Answer>(method: string, path: string, body?: unknown): Promise<Answer>;
}

const rootToken = "a-token-that-is-only-for-this-bench-0123456789";

export async function startServer(engine: Engine): Promise<DeletesServer> {
  await using undo = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), "pinakes-deletes-"));
  undo.defer(() => rmSync(dir, { recursive: true, force: true }));
  const postgres = engine === "PostgreSQL" ? await startPostgres() : undefined;
  undo.defer(() => postgres?.stop());
  const embeddings = undo.use(await startEmbeddings());
  const models = [{ id: "words", provider: "ollama", model: "words", dims, baseUrl: embeddings.url }];
  const options = {
    dir,
    rootToken,
    models,
    ...(postgres === undefined ? {} : { items: postgres.url, objects: `file:${join(dir, "objects")}` }),
  };
  const child = fork(fileURLToPath(new URL("server-process.ts", import.meta.url)), [JSON.stringify(options)]);
  undo.defer(async () => {
    const ended = once(child, "exit");
    if (child.exitCode !== null || !child.connected) return;
    child.send("close");
    await ended;
  });
  const early = once(child, "exit").then(() => {
    throw new Error("The server ended before it listened; what it said is above.");
  });
  const [{ url }] = (await Promise.race([once(child, "message"), early])) as [{ url: string }];
  early.catch(() => {});
  const agent = undo.adopt(new Agent({ keepAlive: true }), (one) => one.destroy());
  const opened = undo.move();
  return {
    engine,
    dir,
    postgresUrl: postgres?.url,
    call: async <Answer>(method: string, path: string, body?: unknown) => {
      const answer = await ask(
        agent,
        method,
        `${url}${path}`,
        body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      );
      return (answer.length === 0 ? undefined : JSON.parse(answer.toString())) as Answer;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** By node:http, which costs half of fetch: the server is measured. */
async function ask(agent: Agent, method: string, url: string, body: Buffer | undefined): Promise<Buffer> {
  const headers = {
    authorization: `Bearer ${rootToken}`,
    ...(body === undefined ? {} : { "content-type": "application/json", "content-length": body.length }),
  };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        const answer = Buffer.concat(parts);
        if ((response.statusCode ?? 500) < 400) resolve(answer);
        else reject(new Error(`${method} ${url}: ${response.statusCode} ${answer.toString().slice(0, 500)}`));
      });
    });
    asked.on("error", (error: NodeJS.ErrnoException) => {
      // The server had closed an idle connection just then.
      if (asked.reusedSocket && (error.code === "EPIPE" || error.code === "ECONNRESET"))
        ask(agent, method, url, body).then(resolve, reject);
      else reject(error);
    });
    asked.end(body);
  });
}
