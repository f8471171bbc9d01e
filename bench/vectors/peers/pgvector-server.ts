/**
 * PostgreSQL 17 with pgvector from Debian trixie, in a folder that `mmdebstrap` creates the first time (a minute, 0.5 GB, as root). It
 * listens on a socket in that folder only, and dies with this process.
 */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { VectorSet } from "../candidate.ts";
import { scratch } from "../data.ts";
import { cpuMsOf, diskBytesOf, rssBytesOf, startServer, tree, type Server } from "../processes.ts";
import type { Postgres } from "./pgvector.ts";

const root = `${scratch}trixie`;
const binaries = "/usr/lib/postgresql/17/bin/";
const extension = `${root}/usr/share/postgresql/17/extension/vector.control`;

const settings = {
  listen_addresses: "",
  shared_buffers: "4GB",
  maintenance_work_mem: "2GB",
  max_parallel_maintenance_workers: "2",
  // POSIX shared memory would need a mount in the chroot.
  dynamic_shared_memory_type: "sysv",
  max_wal_size: "8GB",
  jit: "off",
};

export async function openServer(): Promise<Postgres> {
  provision();
  const folder = mkdtempSync(`${root}/tmp/pg-`);
  try {
    return await startIn(folder);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

async function startIn(folder: string): Promise<Postgres> {
  const { default: pg } = await import("pg");
  const [uid, gid] = postgresUser();
  chownSync(folder, uid, gid);
  const inside = folder.slice(root.length);
  const asPostgres = [root, "setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--pdeathsig", "INT"];
  const env = { PATH: `${binaries}:/usr/sbin:/usr/bin:/sbin:/bin`, LC_ALL: "C" };
  execFileSync(
    "chroot",
    [
      ...asPostgres,
      `${binaries}initdb`,
      "-D",
      `${inside}/data`,
      "-A",
      "trust",
      "-U",
      "postgres",
      "-E",
      "UTF8",
      "--no-sync",
    ],
    { env },
  );
  const flags = Object.entries({ ...settings, unix_socket_directories: inside }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const client = () => new pg.Client({ host: folder, user: "postgres", database: "postgres" });
  const ready = async (): Promise<boolean> => {
    const probe = client();
    try {
      await probe.connect();
      return true;
    } catch {
      return false;
    } finally {
      await probe.end();
    }
  };
  const server = await startServer(
    "chroot",
    [...asPostgres, `${binaries}postgres`, "-D", `${inside}/data`, ...flags],
    env,
    "/",
    ready,
  );
  const connection = client();
  await connection.connect();
  const { rows } = await connection.query<{ server: string; vector: string }>(
    "SELECT current_setting('server_version') AS server, default_version AS vector FROM pg_available_extensions WHERE name = 'vector'",
  );
  return {
    name: "pgvector",
    note: `pgvector ${rows[0]?.vector ?? "?"} on PostgreSQL ${rows[0]?.server ?? "?"}, socket, binary parameters; server CPU`,
    ...figures(server, `${folder}/data`),
    load: async (data) => {
      const file = `${folder}/rows.bin`;
      writeCopy(file, data);
      await connection.query(`COPY rows FROM '${inside}/rows.bin' WITH (FORMAT binary)`);
      rmSync(file);
    },
    run: async (sql) => void (await connection.query(sql)),
    ids: async (name, text, vector, ...others) => {
      const found = await connection.query<[number]>({
        name,
        text,
        values: [binaryVector(vector), ...others],
        rowMode: "array",
      });
      return found.rows.map(([id]) => id);
    },
    close: async () => {
      await connection.end();
      await server.stop("SIGINT");
      rmSync(folder, { recursive: true });
    },
  };
}

function figures(server: Server, data: string): Pick<Postgres, "cpuMs" | "rssBytes" | "diskBytes"> {
  return {
    cpuMs: () => cpuMsOf(tree(server.pid)),
    rssBytes: () => rssBytesOf(tree(server.pid)),
    // Without the log, which is recycled, and the size of an empty database.
    diskBytes: async () => diskBytesOf(join(data, "base")),
  };
}

function provision(): void {
  if (existsSync(extension)) return;
  if (process.getuid?.() !== 0) throw new Error("a chroot needs root");
  const temporary = `${root}.${process.pid}`;
  mkdirSync(scratch, { recursive: true });
  try {
    // Without an address it takes Debian's, by the machine's own settings.
    execFileSync(
      "mmdebstrap",
      ["--variant=minbase", "--include=postgresql-17,postgresql-17-pgvector", "trixie", temporary],
      { stdio: "pipe" },
    );
    renameSync(temporary, root);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    const { code, stderr } = error as { code?: string; stderr?: Buffer };
    throw new Error(
      code === "ENOENT"
        ? "mmdebstrap is not installed"
        : `mmdebstrap: ${stderr?.toString().trim().split("\n").at(-1) ?? String(error)}`,
    );
  }
  if (!existsSync(extension)) throw new Error(`${extension} is missing in what mmdebstrap made`);
}

function postgresUser(): [uid: number, gid: number] {
  const line = /^postgres:x:(\d+):(\d+):/m.exec(readFileSync(`${root}/etc/passwd`, "utf8"));
  if (line === null) throw new Error("the chroot has no user postgres");
  return [Number(line[1]), Number(line[2])];
}

/** int16 dimensions, int16 unused, then float4, big-endian: what vector_recv takes. */
function binaryVector(vector: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(4 + vector.length * 4);
  bytes.writeUInt32BE(vector.length << 16, 0);
  for (let d = 0; d < vector.length; d += 1) bytes.writeFloatBE(vector[d] as number, 4 + d * 4);
  return bytes;
}

/** A file in the binary format of COPY. */
function writeCopy(path: string, { rows, dims, vectors, tag10, tag1 }: VectorSet): void {
  const file = openSync(path, "w", 0o644);
  writeSync(file, Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]));
  for (let id = 0; id < rows; id += 1) {
    const head = Buffer.alloc(30);
    head.writeInt16BE(4, 0);
    for (const [i, value] of [id, tag10[id] ?? 0, tag1[id] ?? 0].entries()) {
      head.writeInt32BE(4, 2 + i * 8);
      head.writeInt32BE(value, 6 + i * 8);
    }
    head.writeInt32BE(4 + dims * 4, 26);
    writeSync(file, Buffer.concat([head, binaryVector(vectors.subarray(id * dims, (id + 1) * dims))]));
  }
  writeSync(file, Buffer.from([0xff, 0xff]));
  closeSync(file);
  if (statSync(path).size < rows * dims * 4) throw new Error("the disk is full");
}
