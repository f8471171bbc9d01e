/**
 * Blocks as objects, `state/<series>/<date>/<hh>-<stamp>`. A block is derived from rows and named by their stamp: an existing one is either
 * current or never read. So nothing here needs to be atomic with anything else; lost or corrupt blocks are rebuilt.
 */
import { hasCode } from "../../../domain/errors.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { ObjectStore } from "../../../ports/object-store.ts";
import { decodeBlock, encodeBlock, type BlockName } from "./blocks.ts";
import type { Columns } from "./columns.ts";
import { hourText } from "../time.ts";

export class BlockStore {
  readonly #objects: ObjectStore;
  readonly #log: (line: string) => void;

  constructor(objects: ObjectStore, log: (line: string) => void) {
    this.#objects = objects;
    this.#log = log;
  }

  /** Undefined: there is none, or none that can be read. */
  async get(scope: Scope, name: BlockName): Promise<Columns | undefined> {
    const key = keyOf(name);
    const file = await this.#objects.get(scope, key);
    if (file === undefined) return undefined;
    try {
      return decodeBlock(name, file);
    } catch (error) {
      if (!hasCode(error, "CORRUPT")) throw error;
      this.#log(`state: ${error.detail}`);
      await this.#objects.delete(scope, [key]);
      return undefined;
    }
  }

  /** Stores a block and removes those of earlier stamps of its hour. */
  async put(scope: Scope, name: BlockName, columns: Columns): Promise<void> {
    const key = keyOf(name);
    await this.#objects.put(scope, key, encodeBlock(name, columns));
    await this.#deleteAll(scope, `${folderOf(name)}${hourText(name.hour)}-`, key);
  }

  /** When it was stored; undefined: there is none. */
  async sealedAt(scope: Scope, name: BlockName): Promise<number | undefined> {
    return (await this.#objects.head(scope, keyOf(name)))?.modifiedAt;
  }

  /** All of a day. */
  async deleteDay(scope: Scope, of: Pick<BlockName, "series" | "date">): Promise<void> {
    await this.#deleteAll(scope, folderOf(of));
  }

  async #deleteAll(scope: Scope, prefix: string, but?: string): Promise<void> {
    for (let after: string | undefined; ;) {
      const page = await this.#objects.list(scope, prefix, after === undefined ? {} : { after });
      const keys = page.keys.map(({ key }) => key).filter((key) => key !== but);
      if (keys.length > 0) await this.#objects.delete(scope, keys);
      if (page.next === undefined) return;
      after = page.next;
    }
  }
}

function folderOf({ series, date }: Pick<BlockName, "series" | "date">): string {
  return `state/${series}/${date}/`;
}

function keyOf(name: BlockName): string {
  return `${folderOf(name)}${hourText(name.hour)}-${name.stamp}`;
}
