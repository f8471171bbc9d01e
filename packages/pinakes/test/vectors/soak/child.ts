/** A process of a soak, seen from outside: its output, and its end. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Message, Task } from "./process-kit.ts";

export class Child {
  readonly exited: Promise<number | null>;
  readonly counts: Record<string, number> = {};
  ready = false;
  stopped = false;
  broken: string | undefined;
  readonly #process: ChildProcess;

  constructor(program: URL, task: Task, env: Readonly<Record<string, string>>) {
    // Compiled once for all of them: most of the cost of a short process.
    const compiled = { NODE_COMPILE_CACHE: join(task.place.dir, "compiled") };
    const args = [fileURLToPath(program), JSON.stringify(task)];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env, ...compiled },
    });
    this.#process = child;
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk.toString("utf8")).slice(-4_000);
    });
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => this.#hear(line));
    const heard = new Promise<void>((resolve) => lines.once("close", resolve));
    this.exited = new Promise((resolve) => {
      child.once("close", (code: number | null) => {
        void heard.then(() => {
          if (code === 1 && this.broken === undefined) this.broken = complaint;
          resolve(code);
        });
      });
    });
  }

  stop(): void {
    this.stopped = true;
    this.#process.kill("SIGSTOP");
  }

  goOn(): void {
    this.stopped = false;
    this.#process.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.exited;
  }

  #hear(line: string): void {
    // A line truncated by a kill is not JSON.
    if (!line.endsWith("}")) return;
    const message = JSON.parse(line) as Message;
    if ("ready" in message) this.ready = true;
    if ("counts" in message) Object.assign(this.counts, message.counts);
    if ("broken" in message) this.broken = message.broken;
  }
}
