/**
 * Temporary files: what a put writes before the rename. Files of killed processes are swept when the store is opened.
 *
 * The name identifies the writer: host, process, and a token of this very process (a restarted container often has the same process id). A
 * file of a live process, or of another host (a shared volume), is left alone for a day.
 */
import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { errorCode, ignoring, type Files } from "./files.ts";

const staleMs = 86_400_000;
const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
const token = randomBytes(6).toString("hex");
let counter = 0;

export function nextTempFile(folder: string): string {
  counter += 1;
  return join(folder, `${host}-${process.pid}-${token}-${counter}.tmp`);
}

export async function sweepTempFiles(files: Files, folder: string): Promise<number> {
  let swept = 0;
  for (const name of await files.readdir(folder)) {
    const path = join(folder, name);
    if (!abandoned(name)) {
      const stat = await ignoring(["ENOENT"], files.stat(path));
      if (stat === undefined || Date.now() - stat.mtimeMs < staleMs) continue;
    }
    await ignoring(["ENOENT"], files.unlink(path));
    swept += 1;
  }
  return swept;
}

function abandoned(name: string): boolean {
  const [, writerHost, pid, writerToken] = /^([0-9a-f]{8})-(\d+)-([0-9a-f]{12})-\d+\.tmp$/.exec(name) ?? [];
  if (writerHost !== host || pid === undefined || writerToken === token) return false;
  return Number(pid) === process.pid || !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
