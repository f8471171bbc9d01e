/**
 * Objects as files in a folder.
 *
 * A put writes a temporary file, fsyncs it, renames it to its final path and fsyncs the folders above it: the object exists whole or not
 * at all, whenever the process or the machine stops. A delete unlinks, fsyncs, and removes folders that became empty.
 *
 *   <dir>/v1/t.d/acme.d/…   the objects (object-path.ts, object-file.ts)
 *   <dir>/tmp/…             running puts (temp-files.ts)
 */
import { join } from "node:path";
import { PinakesError } from "../../domain/errors.ts";
import {
  objectExists,
  type DriverListRequest,
  type DriverPutOptions,
  type ObjectDriver,
} from "../../objects/object-driver.ts";
import type {
  ByteRange,
  ListedObject,
  ObjectHead,
  ObjectStoreCapabilities,
  PutResult,
} from "../../ports/object-store.ts";
import { errorCode, ignoring, storeError, type Files, type OpenFile } from "./files.ts";
import { Folders } from "./folders.ts";
import { footerBytes, readBytes, readChunks, readHead, writeObjectFile } from "./object-file.ts";
import { pathOf } from "./object-path.ts";
import { nextTempFile } from "./temp-files.ts";
import { walkObjects } from "./walk.ts";

export class FileObjectDriver implements ObjectDriver {
  readonly capabilities: ObjectStoreCapabilities = { driver: "fs", conditionalPut: true, durable: true };
  readonly #files: Files;
  readonly #dir: string;
  readonly #root: string;
  readonly #temps: string;
  readonly #folders: Folders;

  constructor(files: Files, dir: string, folders: { root: string; temps: string }) {
    this.#files = files;
    this.#dir = dir;
    this.#root = folders.root;
    this.#temps = folders.temps;
    this.#folders = new Folders(files, folders.root);
  }

  async put(
    key: string,
    chunks: AsyncIterable<Uint8Array>,
    { ifAbsent, signal }: DriverPutOptions,
  ): Promise<PutResult> {
    const temp = nextTempFile(this.#temps);
    const source = watch(chunks);
    try {
      const result = await writeObjectFile(this.#files, temp, source.chunks);
      signal?.throwIfAborted();
      await this.#publish(temp, key, ifAbsent);
      return result;
    } catch (error) {
      await ignoring(["ENOENT"], this.#files.unlink(temp)).catch(() => {}); // The first error matters; the sweep removes the file.
      throw source.failedWith(error) ? error : storeError(error, this.#dir);
    }
  }

  async get(key: string, range: ByteRange, bytesMax: number, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    return this.#reading(key, (file) => readBytes(file, key, range, bytesMax, signal));
  }

  async stream(key: string, range: ByteRange, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    const head = await this.head(key);
    return head === undefined ? undefined : this.#chunks(key, range, signal);
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    return this.#reading(key, (file) => readHead(file, key));
  }

  async list({ limit, ...request }: DriverListRequest): Promise<readonly ListedObject[]> {
    try {
      const listed: ListedObject[] = [];
      for await (const { key, path } of walkObjects(this.#files, this.#root, request)) {
        const stat = await ignoring(["ENOENT"], this.#files.stat(path));
        if (stat === undefined) continue;
        listed.push({ key, bytes: Math.max(0, stat.size - footerBytes), modifiedAt: Math.floor(stat.mtimeMs) });
        if (listed.length === limit) break;
      }
      return listed;
    } catch (error) {
      throw storeError(error, this.#dir);
    }
  }

  async delete(keys: readonly string[], signal?: AbortSignal): Promise<void> {
    try {
      const folders = new Map<string, readonly string[]>();
      for (const key of keys) {
        signal?.throwIfAborted();
        const names = pathOf(key);
        await ignoring(["ENOENT"], this.#files.unlink(join(this.#root, ...names)));
        const folder = names.slice(0, -1);
        folders.set(folder.join("/"), folder);
      }
      // Even if nothing was unlinked: an earlier attempt may have stopped after the unlink.
      for (const folder of folders.values()) await this.#folders.sync(join(this.#root, ...folder));
      for (const folder of folders.values()) await this.#folders.removeEmpty(folder);
    } catch (error) {
      throw storeError(error, this.#dir);
    }
  }

  async close(): Promise<void> {}

  async #publish(temp: string, key: string, ifAbsent: boolean): Promise<void> {
    const names = pathOf(key);
    const folder = names.slice(0, -1);
    const target = join(this.#root, ...names);
    await this.#folders.inFolder(folder, async () => {
      try {
        await (ifAbsent ? this.#files.link(temp, target) : this.#files.rename(temp, target));
      } catch (error) {
        if (ifAbsent && errorCode(error) === "EEXIST") throw objectExists(key);
        if (errorCode(error) === "ENOENT") await this.#mustExist(temp);
        throw error;
      }
    });
    await this.#folders.settle(folder);
    if (ifAbsent) await this.#files.unlink(temp);
  }

  async #mustExist(temp: string): Promise<void> {
    if ((await ignoring(["ENOENT"], this.#files.stat(temp))) !== undefined) return;
    throw new PinakesError(
      "UNAVAILABLE",
      `The temporary file ${temp} was removed while it was written. Nothing was stored; try again.`,
    );
  }

  async #reading<T>(key: string, read: (file: OpenFile) => Promise<T>): Promise<T | undefined> {
    try {
      const file = await ignoring(["ENOENT"], this.#files.open(join(this.#root, ...pathOf(key)), "r"));
      if (file === undefined) return undefined;
      try {
        return await read(file);
      } finally {
        await file.close();
      }
    } catch (error) {
      throw storeError(error, this.#dir);
    }
  }

  async *#chunks(key: string, range: ByteRange, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
    try {
      const file = await this.#files.open(join(this.#root, ...pathOf(key)), "r");
      try {
        yield* readChunks(file, key, range, signal);
      } finally {
        await file.close();
      }
    } catch (error) {
      if (errorCode(error) === "ENOENT")
        throw new PinakesError("NOT_FOUND", `Object ${JSON.stringify(key)} was deleted before it was read.`, {
          cause: error,
        });
      throw storeError(error, this.#dir);
    }
  }
}

/** Distinguishes an error of the caller's stream, which is rethrown unchanged, from one of the disk. */
function watch(source: AsyncIterable<Uint8Array>): {
  chunks: AsyncIterable<Uint8Array>;
  failedWith(error: unknown): boolean;
} {
  let failure: { readonly error: unknown } | undefined;
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    try {
      yield* source;
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  return { chunks: chunks(), failedWith: (error) => failure !== undefined && failure.error === error };
}
