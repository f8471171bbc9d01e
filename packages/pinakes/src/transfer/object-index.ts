/**
 * The objects of an import by key: with the bucket as the first folder, as in exports, or without, as in a copy of one bucket. Only listed
 * files are ever opened, so no key of an item leads elsewhere.
 */
import { PinakesError } from "../domain/errors.ts";
import type { TransferReader } from "./files.ts";
import { transferLimits } from "./limits.ts";
import { definitionsFolder, isTablePath } from "./names.ts";
import { sidecarSuffix } from "./sidecar.ts";

export class ObjectIndex {
  readonly tables: string[] = [];
  readonly #paths = new Set<string>();
  /** Without the bucket; undefined if two buckets have the key. */
  readonly #keys = new Map<string, string | undefined>();
  readonly #used = new Set<string>();
  /** By the folder of their key; made when it is asked for. */
  #folders: Map<string, string[]> | undefined;

  static async read(reader: TransferReader, filesMax: number = transferLimits.filesMax): Promise<ObjectIndex> {
    const index = new ObjectIndex();
    let files = 0;
    for await (const path of reader.paths()) {
      files += 1;
      if (files > filesMax)
        throw new PinakesError(
          "LIMIT_EXCEEDED",
          `An import may have at most ${filesMax} files; split it by repositories.`,
        );
      if (isTablePath(path)) index.tables.push(path);
      else if (!path.startsWith(`${definitionsFolder}/`)) index.#add(path);
    }
    return index;
  }

  /** With the bucket as its first folder. */
  byPath(path: string): string | undefined {
    return this.#take(this.#paths.has(path) ? path : undefined);
  }

  /** The first existing one, in any bucket. */
  byKey(...keys: readonly string[]): string | undefined {
    for (const key of keys) {
      const path = this.#keys.get(key) ?? (this.#paths.has(key) ? key : undefined);
      if (path !== undefined) return this.#take(path);
    }
    return undefined;
  }

  use(path: string): void {
    this.#used.add(path);
  }

  /** Objects whose key is in this folder and that no item named so far. The folder ends with "/". */
  unusedIn(folder: string): readonly string[] {
    this.#folders ??= Map.groupBy(this.#plainPaths(), (path) => {
      const key = this.#keys.get(keyOf(path)) === path ? keyOf(path) : path;
      return key.slice(0, key.lastIndexOf("/") + 1);
    });
    return (this.#folders.get(folder) ?? []).filter((path) => !this.#used.has(path));
  }

  sidecarOf(path: string): string | undefined {
    return this.#paths.has(path + sidecarSuffix) ? path + sidecarSuffix : undefined;
  }

  /** Objects that no item referred to. */
  *unused(): Generator<string> {
    for (const path of this.#paths) {
      const owner = path.endsWith(sidecarSuffix) ? path.slice(0, -sidecarSuffix.length) : path;
      if (!this.#used.has(path) && !this.#paths.has(owner === path ? "" : owner)) yield path;
    }
  }

  *#plainPaths(): Generator<string> {
    for (const path of this.#paths) if (!path.endsWith(sidecarSuffix)) yield path;
  }

  #add(path: string): void {
    this.#paths.add(path);
    const key = keyOf(path);
    this.#keys.set(key, this.#keys.has(key) ? undefined : path);
  }

  #take(path: string | undefined): string | undefined {
    if (path !== undefined) this.#used.add(path);
    return path;
  }
}

/** Without the bucket. */
function keyOf(path: string): string {
  return path.slice(path.indexOf("/") + 1);
}
