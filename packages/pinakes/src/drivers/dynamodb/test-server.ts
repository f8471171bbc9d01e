/** For tests: a real server of the DynamoDB API in a process of its own, in memory, deleted by `stop`. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { connect, createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";

export interface DynamoServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** What a client of a local server needs besides its address. */
export const testConnection = Object.freeze({
  region: "local",
  credentials: Object.freeze({ accessKeyId: "test", secretAccessKey: "test" }),
});

const startAttemptsMax = 5;

export async function startDynamo(): Promise<DynamoServer> {
  const binary = join(dirname(createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json")), "dynoxide");
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const child = spawn(binary, ["--host", "127.0.0.1", "--port", String(port)], { stdio: "ignore" });
    // Another process may have taken the port between our check and the server's listening.
    if (await listens(child, port)) return { endpoint: `http://127.0.0.1:${port}`, stop: () => stop(child) };
    await stop(child);
    if (attempt >= startAttemptsMax) throw new Error("dynoxide did not start");
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** As long as the process lives it may still come up, however slow the machine. */
async function listens(child: ChildProcess, port: number): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    const socket = connect(port, "127.0.0.1");
    const open = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (open) return child.exitCode === null;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
