/**
 * Folders that are created and removed with the objects in them.
 *
 * Invariant: when `settle(folder)` has resolved, every name from the root down to the folder's entries is on disk. A folder that was
 * settled before and is still the same one (inode and birth time) was never empty since, so neither were those above it: then it alone
 * needs an fsync.
 */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PinakesError } from "../../domain/errors.ts";
import { errorCode, ignoring, type Files } from "./files.ts";

const triesMax = 100;
const settledMax = 10_000;

export class Folders {
  readonly #files: Files;
  readonly #root: string;
  readonly #settled = new Map<string, string>();

  constructor(files: Files, root: string) {
    this.#files = files;
    this.#root = root;
  }

  /** Creates the folder and runs `action` in it; repeats if a concurrent delete removed the folder in between. */
  async inFolder(names: readonly string[], action: () => Promise<void>): Promise<void> {
    const folder = join(this.#root, ...names);
    for (let tries = 0; tries < triesMax; tries += 1) {
      try {
        return await action();
      } catch (error) {
        if (errorCode(error) !== "ENOENT") throw error;
      }
      await this.#make(names);
    }
    throw new PinakesError(
      "UNAVAILABLE",
      `The folder ${folder} was removed repeatedly while an object was being written to it. Try again.`,
    );
  }

  async settle(names: readonly string[]): Promise<void> {
    const folder = join(this.#root, ...names);
    const synced = await this.sync(folder);
    // Already gone: its content has been deleted since, which counts as settled.
    if (!synced) return;
    const stat = await ignoring(["ENOENT"], this.#files.stat(folder));
    if (stat === undefined) return;
    const identity = `${stat.ino} ${stat.birthtimeMs}`;
    if (this.#settled.get(folder) === identity) return;
    for (let depth = names.length - 1; depth >= 0; depth -= 1)
      await this.sync(join(this.#root, ...names.slice(0, depth)));
    if (this.#settled.size >= settledMax) this.#settled.clear();
    this.#settled.set(folder, identity);
  }

  /** False if there is no such folder. */
  async sync(folder: string): Promise<boolean> {
    const handle = await ignoring(["ENOENT"], this.#files.open(folder, "r"));
    if (handle === undefined) return false;
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    return true;
  }

  /** Removes the folder and those above it as long as they are empty. */
  async removeEmpty(names: readonly string[]): Promise<void> {
    for (let depth = names.length; depth > 0; depth -= 1) {
      try {
        await this.#files.rmdir(join(this.#root, ...names.slice(0, depth)));
      } catch (error) {
        const code = errorCode(error);
        if (code === "ENOTEMPTY" || code === "EEXIST") return;
        if (code !== "ENOENT") throw error;
      }
    }
  }

  async #make(names: readonly string[]): Promise<void> {
    for (let depth = 1; depth <= names.length; depth += 1) {
      // ENOENT: a concurrent delete removed the level above; the caller retries.
      await ignoring(["EEXIST", "ENOENT"], this.#files.mkdir(join(this.#root, ...names.slice(0, depth))));
    }
  }
}

/** The store's own folders, made durable together with their directory entries. */
export async function makeRoot(files: Files, path: string): Promise<void> {
  const created = await mkdir(path, { recursive: true });
  if (created === undefined) return;
  const stop = dirname(created);
  for (let folder = path; ; folder = dirname(folder)) {
    const handle = await files.open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (folder === stop || folder === dirname(folder)) return;
  }
}
