import { join, resolve } from "node:path";
import { createObjectStore } from "../../objects/create-object-store.ts";
import { encryptedDriver } from "../../objects/encryption/encrypted-driver.ts";
import type { ObjectKeys } from "../../objects/encryption/object-keys.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { FileObjectDriver } from "./driver.ts";
import { nodeFiles, storeError, type Files } from "./files.ts";
import { makeRoot } from "./folders.ts";
import { sweepTempFiles } from "./temp-files.ts";

export interface FileObjectsOptions {
  readonly dir: string;
  /** For tests that watch or break the file functions. */
  readonly files?: Files | undefined;
  /** Encrypts stored objects (RFC 0019). */
  readonly keys?: ObjectKeys | undefined;
}

/** Objects as files in a folder, which is created if absent. */
export async function openFileObjects({ dir, files = nodeFiles, keys }: FileObjectsOptions): Promise<ObjectStore> {
  const base = resolve(dir);
  const folders = { root: join(base, "v1"), temps: join(base, "tmp") };
  try {
    await makeRoot(files, folders.root);
    await makeRoot(files, folders.temps);
    await sweepTempFiles(files, folders.temps);
  } catch (error) {
    throw storeError(error, base);
  }
  const driver = new FileObjectDriver(files, base, folders);
  return createObjectStore(keys === undefined ? driver : encryptedDriver(driver, keys));
}
