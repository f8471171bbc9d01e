/**
 * Files of segments on the local disk, if the bucket is remote: a folder per collection, a file per hash. Written to a temporary file and
 * renamed, verified when read, bounded, evicted least recently used first. Losing any of it costs a fetch and nothing else.
 */
import { mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { PinakesError } from "../../domain/errors.ts";

export interface DiskCacheOptions {
  readonly dir: string;
  readonly bytesMax: number;
  readonly log: (line: string) => void;
}

export interface CacheName {
  readonly tenant: string;
  readonly collection: string;
  readonly sha256: string;
}

export class DiskCache {
  readonly #options: DiskCacheOptions;
  #writes: Promise<void> = Promise.resolve();

  constructor(options: DiskCacheOptions) {
    this.#options = options;
  }

  /** Fills `into` from `offset` on, if there is a file of exactly this length. The caller verifies it, and removes what is corrupt. */
  async read(name: CacheName, fileBytes: number, into: Uint8Array, offset: number): Promise<boolean> {
    const path = this.#path(name);
    try {
      await using file = await open(path, "r");
      if ((await file.stat()).size !== fileBytes) return false;
      for (let at = 0; at < into.byteLength;) {
        const { bytesRead } = await file.read(into, at, Math.min(into.byteLength - at, 64 * 1024 ** 2), offset + at);
        if (bytesRead === 0) return false;
        at += bytesRead;
      }
      const now = new Date();
      await utimes(path, now, now).catch(() => {});
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#complain("read", error);
      return false;
    }
  }

  /** In the background: a full disk must not fail a query. */
  write(name: CacheName, bytes: Uint8Array): void {
    this.#writes = this.#writes.then(async () => {
      const path = this.#path(name);
      const temporary = `${path}.${process.pid}.tmp`;
      try {
        await mkdir(join(path, ".."), { recursive: true });
        {
          await using file = await open(temporary, "w");
          await file.writeFile(bytes);
        }
        await rename(temporary, path);
        await this.#evict();
      } catch (error) {
        this.#complain("written", error);
        await rm(temporary, { force: true }).catch(() => {});
      }
    });
  }

  async remove(name: CacheName): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  /** All files of a collection: it was purged. */
  async removeCollection({ tenant, collection }: Omit<CacheName, "sha256">): Promise<void> {
    await rm(join(this.#options.dir, tenant, collection), { recursive: true, force: true });
  }

  async collections(): Promise<{ tenant: string; collection: string }[]> {
    const found: { tenant: string; collection: string }[] = [];
    for (const tenant of await names(this.#options.dir)) {
      for (const collection of await names(join(this.#options.dir, tenant))) found.push({ tenant, collection });
    }
    return found;
  }

  /** Waits for pending writes. */
  async settle(): Promise<void> {
    await this.#writes;
  }

  async #evict(): Promise<void> {
    const files: { path: string; bytes: number; used: number }[] = [];
    for (const { tenant, collection } of await this.collections()) {
      const folder = join(this.#options.dir, tenant, collection);
      for (const name of await names(folder)) {
        const path = join(folder, name);
        const { size, mtimeMs } = await stat(path);
        files.push({ path, bytes: size, used: mtimeMs });
      }
    }
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { path, bytes } of files.toSorted((a, b) => a.used - b.used)) {
      if (total <= this.#options.bytesMax) return;
      await rm(path, { force: true });
      total -= bytes;
    }
  }

  #path({ tenant, collection, sha256 }: CacheName): string {
    if (!/^[0-9a-f]{64}$/.test(sha256))
      throw new PinakesError("CORRUPT", "The hash of a file in a manifest is malformed.");
    return join(this.#options.dir, tenant, collection, `${sha256}.seg`);
  }

  #complain(what: string, error: unknown): void {
    this.#options.log(
      `vectors: the cache in ${this.#options.dir} could not be ${what}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || (error as NodeJS.ErrnoException).code === "ENOTDIR")
      return [];
    throw error;
  }
}
