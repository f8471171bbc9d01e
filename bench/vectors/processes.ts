/** CPU time, memory and liveness of other processes, from Linux' /proc; and the size of a folder. */
import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { once } from "node:events";

/** Linux counts CPU time in ticks of 10 ms: divide by many queries. */
const tickMs = 10;

/** The process and all its descendants. */
export function tree(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statFields(Number(name));
    if (fields !== undefined) parents.set(Number(name), Number(fields[1]));
  }
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found;
}

/** All threads, and children that have ended (PostgreSQL's parallel workers). */
export function cpuMsOf(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) for (const field of (statFields(pid) ?? []).slice(11, 15)) ticks += Number(field);
  return ticks * tickMs;
}

/** Shared memory is counted once. */
export function rssBytesOf(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids)
    kilobytes += Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? "")?.[1] ?? 0);
  return kilobytes * 1024;
}

/** Fields of /proc/<pid>/stat from the third, "state", on; undefined if the process is gone. */
function statFields(pid: number): string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

export interface Server {
  readonly pid: number;
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a server and waits until `ready` resolves. Callers put `setpriv --pdeathsig` before the command, so that it dies with this process. */
export async function startServer(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
  ready: () => Promise<boolean>,
): Promise<Server> {
  const child = spawn(command, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
  const server = { pid: child.pid ?? 0, stop: (signal: NodeJS.Signals) => stop(child, signal) };
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${said.trim()}`)));
  });
  ended.catch(() => undefined);
  const deadline = performance.now() + 30_000;
  while (!(await Promise.race([ready(), ended]))) {
    if (performance.now() > deadline) {
      await server.stop("SIGKILL");
      throw new Error(`${command} was not ready within 30 s: ${said.trim()}`);
    }
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 50)), ended]);
  }
  return server;
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Bytes that the files under a folder take up on disk. */
export function diskBytesOf(path: string): number {
  // A server may be cleaning up: deleted files take no space.
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.blocks * 512;
  let names: string[] = [];
  try {
    names = readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return names.reduce((sum, name) => sum + diskBytesOf(join(path, name)), 0);
}
