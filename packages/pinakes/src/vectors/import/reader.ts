/** The source of foreign files: a bucket or a folder. */
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { invalid, show } from "../../domain/errors.ts";
import { compareUtf8 } from "../../domain/json.ts";
import type { AnyScope, ObjectStore } from "../../ports/object-store.ts";

export interface SourceReader {
  /** The keys that begin with `prefix`, in the byte order of their UTF-8. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<{ readonly key: string; readonly bytes: number }>;
  /** Undefined if there is no such file. */
  stream(key: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export function objectsReader(objects: ObjectStore, scope: AnyScope): SourceReader {
  const call = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
  return {
    async *list(prefix, signal) {
      for (let after: string | undefined; ;) {
        const page = await objects.list(scope, prefix, { after, ...call(signal) });
        yield* page.keys;
        after = page.next;
        if (after === undefined) return;
      }
    },
    stream: (key, signal) => objects.stream(scope, key, call(signal)),
  };
}

/** The keys are the paths inside the folder, with "/" between their segments. */
export function folderReader(folder: string): SourceReader {
  const root = resolve(folder);
  return {
    async *list(prefix) {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      const keys = entries
        .filter((entry) => !entry.isDirectory())
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
        .filter((key) => key.startsWith(prefix));
      for (const key of keys.toSorted(compareUtf8)) yield { key, bytes: (await stat(join(root, key))).size };
    },
    async stream(key) {
      const path = resolve(root, key);
      if (!path.startsWith(root + sep)) throw invalid(`key: ${show(key)} escapes from the folder.`);
      const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      return found === undefined ? undefined : createReadStream(path);
    },
  };
}
