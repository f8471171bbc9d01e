/** Files that belong to a document, a user or a workflow, for an export of what is held about a subject. Reads only. */
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { contentKey } from "../documents/check-upload.ts";
import { textKey } from "../documents/parsed-text.ts";
import { filesRoot, ownerOf } from "../files/file-records.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { DocumentRecord } from "../records/records.ts";

export interface ExportedFile {
  /** Its path in the archive. */
  readonly name: string;
  readonly body: AsyncIterable<Uint8Array>;
}

const keysPerPage = 1_000;

export class SubjectObjects {
  readonly #objects: ObjectStore;
  readonly #items: ItemStore;

  constructor(stores: { readonly objects: ObjectStore; readonly items: ItemStore }) {
    this.#objects = stores.objects;
    this.#items = stores.items;
  }

  /** Each version that is stored: the file as it was uploaded, and the text that was read from it. */
  async *ofDocument(scope: Scope, row: JsonObject, folder: string): AsyncGenerator<ExportedFile, void> {
    const record = row as unknown as DocumentRecord;
    const partition = new CollectionPartition(this.#items, scope, record);
    for (const { version } of record.versions) {
      const at = `${folder}${version}/`;
      yield* this.#file(scope, contentKey(partition, record.document_id, version), `${at}${safeName(record.name)}`);
      yield* this.#file(scope, textKey(partition, record.document_id, version), `${at}text.json`);
    }
  }

  /** Files that the user uploaded apart from collections. */
  async *ofUser(scope: Scope, userId: string, folder: string): AsyncGenerator<ExportedFile, void> {
    yield* this.under(scope, `${filesRoot}${ownerOf(userId)}/`, folder);
  }

  async *ofAllUsers(scope: Scope, folder: string): AsyncGenerator<ExportedFile, void> {
    yield* this.under(scope, filesRoot, folder);
  }

  async *under(scope: Scope, prefix: string, folder: string): AsyncGenerator<ExportedFile, void> {
    for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
      const page = await this.#objects.list(scope, prefix, { limit: keysPerPage, after });
      for (const { key } of page.keys) yield* this.#file(scope, key, `${folder}${key.slice(prefix.length)}`);
      after = page.next;
    }
  }

  /** Nothing if it was deleted meanwhile. */
  async *#file(scope: Scope, key: string, name: string): AsyncGenerator<ExportedFile, void> {
    const body = await this.#objects.stream(scope, key);
    if (body !== undefined) yield { name, body };
  }
}

/** One segment of a path on every system. */
function safeName(name: string): string {
  const plain = name.replaceAll(/[\p{Cc}/\\:*?"<>|]/gu, "_").slice(0, 150);
  return /^\.+$/.test(plain) || plain === "" ? "file" : plain;
}
