/**
 * The address of the server that runs on a data folder, for other commands: `server.json`, written at startup and removed at shutdown. It
 * contains the secret of the local operator (identity/local-operator.ts), so only its owner may read it; that user can also read the
 * stores.
 *
 * The file is only a hint. It survives a crash, after which another process may have the process id or the port: a command uses the server
 * only after it has proved that it knows the secret.
 */
import { macOf } from "../runtime/tokens.ts";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { proveServer, signLocalToken, type LocalActor } from "../identity/index.ts";
import { challengeHeader, proofHeader } from "../http/api/identity.ts";

const fileName = "server.json";
const formatVersion = 1;
const fileBytesMax = 65_536;
const answerMsMax = 5_000;

type Stores = Config["stores"];

interface ServerFile {
  readonly format: number;
  readonly url: string;
  readonly pid: number;
  readonly secret: string;
  /** A fingerprint of the server's stores; a command with other settings must not use it. Keyed, because addresses may hold passwords. */
  readonly stores: string;
}

export interface LocalServer {
  readonly url: string;
  /** A new token for each request. */
  readonly key: (actor: LocalActor) => string;
}

/** Undefined if the server is not reachable over loopback. The result removes the file again. */
export function writeServerFile(stores: Stores, url: string, secret: string): (() => void) | undefined {
  const address = overLoopback(url);
  if (address === undefined) return undefined;
  const path = join(stores.data, fileName);
  const content: ServerFile = {
    format: formatVersion,
    url: address,
    pid: process.pid,
    secret,
    stores: fingerprint(secret, stores),
  };
  const next = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(next, `${JSON.stringify(content)}\n`, { mode: 0o600, flag: "wx" });
  chmodSync(next, 0o600);
  renameSync(next, path);
  return () => {
    // Another server may have started on the folder since.
    if (readServerFile(path)?.secret === secret) rmSync(path, { force: true });
  };
}

export function newServerSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** The server that runs on these stores, once it has proved its identity. `log` reports why a file is ignored. */
export async function findServer(stores: Stores, log: (line: string) => void): Promise<LocalServer | undefined> {
  const path = join(stores.data, fileName);
  const file = readServerFile(path, log);
  if (file === undefined) return undefined;
  const ignored = (why: string): undefined => void log(`${path} is ignored: ${why}`);
  if (file.stores !== fingerprint(file.secret, stores)) return ignored("that server has different stores");
  if (!isRunning(file.pid)) return ignored("the server is no longer running");
  const key = (actor: LocalActor): string => signLocalToken(file.secret, actor, Date.now());
  if (!(await hasProved(file, key))) return ignored(`${file.url} is not the server that wrote it`);
  return { url: file.url, key };
}

function readServerFile(path: string, log: (line: string) => void = () => {}): ServerFile | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT"))
      log(`${path} is ignored: ${String(error)}`);
    return undefined;
  }
  try {
    const { uid, mode, size } = fstatSync(file);
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0 || size > fileBytesMax) {
      log(
        `${path} is ignored: it must belong to the user who runs the command and be readable by no one else (chmod 600)`,
      );
      return undefined;
    }
    return parsed(readFileSync(file, "utf8"));
  } finally {
    closeSync(file);
  }
}

function parsed(text: string): ServerFile | undefined {
  try {
    const { format, url, pid, secret, stores } = JSON.parse(text) as Partial<Record<keyof ServerFile, unknown>>;
    if (format !== formatVersion || typeof url !== "string" || typeof secret !== "string" || typeof stores !== "string")
      return undefined;
    return Number.isSafeInteger(pid) && overLoopback(url) === url
      ? { format, url, pid: pid as number, secret, stores }
      : undefined;
  } catch {
    return undefined; // No usable file: the command opens the stores.
  }
}

/** `0.0.0.0` and `::` include loopback. */
function overLoopback(url: string): string | undefined {
  const { hostname, port } = new URL(url);
  if (hostname === "0.0.0.0" || hostname === "[::]") return `http://127.0.0.1:${port}`;
  return hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname) ? `http://${hostname}:${port}` : undefined;
}

function fingerprint(secret: string, stores: Stores): string {
  return macOf(secret, `stores\n${JSON.stringify(stores)}`).toString("base64url");
}

/** A file of another user is not trusted. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function hasProved({ url, secret }: ServerFile, key: LocalServer["key"]): Promise<boolean> {
  const challenge = randomBytes(32).toString("base64url");
  const authorization = `Bearer ${key({ caller: { tenant: "default", userId: "root" } })}`;
  try {
    const response = await fetch(`${url}/v1/me`, {
      headers: { authorization, [challengeHeader]: challenge },
      redirect: "error",
      signal: AbortSignal.timeout(answerMsMax),
    });
    await response.body?.cancel();
    return response.ok && response.headers.get(proofHeader) === proveServer(secret, challenge);
  } catch {
    return false;
  }
}
