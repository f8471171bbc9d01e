/** `pinakes start` in a process of its own, on a free port. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../src/cli/commands/start.ts", import.meta.url));

export interface SpawnedServer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Resolves when it listens; nothing of this process's settings reaches it. */
export async function spawnServer(env: Readonly<Record<string, string>>): Promise<SpawnedServer> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("PINAKES_"));
  const child = spawn(process.execPath, [script], {
    env: { ...Object.fromEntries(inherited), PINAKES_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        const listens = / listens on (http:\S+)/.exec(said)?.[1];
        if (listens !== undefined) resolve(listens);
      });
    void ended.then(() => reject(new Error(`The server ended: ${said}`)));
  });
  return {
    url,
    pid: child.pid as number,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
