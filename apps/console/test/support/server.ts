/** The product as a user starts it: its own process, an empty folder, a free port, and the link that it prints. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface ConsoleServer {
  readonly url: string;
  /** The printed address that signs in, once. */
  readonly link: string;
  /** The root token. */
  readonly key: string;
  /** A call of the API with the root token, for what a test needs to find there. JSON in, JSON out; throws when it is refused. */
  api<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Body>;
  /** Ends the process, keeps the data. */
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

const cli = fileURLToPath(new URL("../../../../packages/pinakes/src/cli/pinakes.ts", import.meta.url));

export async function startServer(environment: Readonly<Record<string, string>> = {}): Promise<ConsoleServer> {
  const data = await mkdtemp(join(tmpdir(), "pinakes-console-"));
  let running = await start({ ...environment, PINAKES_DATA: data, PINAKES_PORT: "0" });
  const { url, link } = running;
  const key = (await readFile(join(data, "root-token"), "utf8")).trim();
  const stop = async () => {
    if (running.child.exitCode !== null) return;
    const ended = once(running.child, "exit");
    running.child.kill("SIGTERM");
    await ended;
  };
  return {
    url,
    link,
    key,
    api: <Body>(method: string, path: string, body?: unknown) => call<Body>({ url, key, method, path, body }),
    stop,
    startAgain: async () => {
      running = await start({ ...environment, PINAKES_DATA: data, PINAKES_PORT: new URL(url).port });
    },
    close: async () => {
      await stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly link: string;
}

async function start(environment: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn(process.execPath, [cli, "start"], {
    env: { ...process.env, PINAKES_LOG_LEVEL: "warn", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  const listens = new Promise<void>((resolve, reject) => {
    const heard = (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes("Ctrl-C")) resolve();
    };
    child.stdout.on("data", heard);
    child.stderr.on("data", heard);
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}:\n${printed}`)));
  });
  await listens;
  const url = /listens on (\S+)/.exec(printed)?.[1];
  const link = /(http\S+#token=\S+)/.exec(printed)?.[1];
  if (url === undefined || link === undefined) throw new Error(`The server printed no address or no link:\n${printed}`);
  return { child, url, link };
}

interface ApiCall {
  readonly url: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

async function call<Body>({ url, key, method, path, body }: ApiCall): Promise<Body> {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? {} : JSON.parse(text)) as Body;
}
