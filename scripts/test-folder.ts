/**
 * Where tests keep their temporary files: in memory, if the machine has room. Stores sync every commit, and half of a run's time was
 * waiting for a disk whose durability no test can observe: a killed process leaves the same bytes in a memory file system.
 */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memoryFolder = "/dev/shm";
/** A run uses less than half of it; containers often have 64 MB. */
const freeBytesMin = 4 * 1024 ** 3;

/** A folder of this run, removed when the process ends; the system's temporary folder if memory is short, or TMPDIR was set. */
export function testFolder(): string {
  if (process.env["TMPDIR"] !== undefined || !hasRoom(memoryFolder)) return tmpdir();
  const folder = mkdtempSync(join(memoryFolder, "pinakes-tests-"));
  // As open as the system's: PostgreSQL refuses to run as root, so its server is another user.
  chmodSync(folder, 0o1777);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= freeBytesMin;
  } catch {
    return false;
  }
}
