/**
 * Rows with vectors that callers embedded themselves. Nothing leads to them but their own metadata, so those of every collection are read,
 * also in the trash.
 */
import type { JsonObject } from "../../domain/json.ts";
import type { KnowledgeErasure, OwnRow } from "../../knowledge/index.ts";
import type { ScanContext } from "./scan.ts";

type IncarnationKey = Parameters<KnowledgeErasure["remains"]>[1];

export interface OwnRowsOfCollection {
  readonly key: IncarnationKey;
  /** Of the subject, without held ones. */
  readonly rows: number;
  readonly held: number;
  readonly holds: readonly string[];
}

export class OwnRows {
  readonly #context: ScanContext;
  readonly #knowledge: KnowledgeErasure;

  constructor(context: ScanContext, knowledge: KnowledgeErasure) {
    this.#context = context;
    this.#knowledge = knowledge;
  }

  /** Whether an erasure removes a row with this metadata. */
  oursIn(key: IncarnationKey): (metadata: JsonObject) => boolean {
    return (metadata) => this.#names(metadata) && this.#keepers(key, metadata).length === 0;
  }

  /** Collections that have rows of the subject. */
  async *found(): AsyncGenerator<OwnRowsOfCollection, void> {
    for await (const key of this.#collections()) {
      let [rows, held] = [0, 0];
      const holds = new Set<string>();
      for await (const { metadata } of this.rowsOf(key)) {
        const keepers = this.#keepers(key, metadata);
        for (const id of keepers) holds.add(id);
        if (keepers.length === 0) rows += 1;
        else held += 1;
      }
      if (rows + held > 0) yield { key, rows, held, holds: [...holds] };
    }
  }

  /** Those of the subject, by collection: held ones, too. */
  async *each(): AsyncGenerator<{ readonly key: IncarnationKey; readonly rows: AsyncGenerator<OwnRow, void> }, void> {
    for await (const key of this.#collections()) yield { key, rows: this.rowsOf(key) };
  }

  async *rowsOf(key: IncarnationKey): AsyncGenerator<OwnRow, void> {
    const scope = this.#context.system.forTenant(this.#context.workspace);
    for await (const row of this.#knowledge.ownRows(scope, key)) if (this.#names(row.metadata)) yield row;
  }

  #names(metadata: JsonObject): boolean {
    return this.#context.naming.names(metadata);
  }

  #keepers({ repository_id, collection_id }: IncarnationKey, metadata: JsonObject): readonly string[] {
    const { type, id } = this.#context.naming.subject;
    const row = { container: "vectors", document: { ...metadata, repository_id, collection_id } };
    return this.#context.holds.filter((hold) => hold.covers(type, id) || hold.matches(row)).map(({ holdId }) => holdId);
  }

  /** Every incarnation with a record. Only a person, an agent or a session is named in metadata. */
  async *#collections(): AsyncGenerator<IncarnationKey, void> {
    const { items, system, workspace, naming, signal } = this.#context;
    if (naming.subject.type === "workspace" || naming.subject.type === "documents") return;
    const scope = system.forTenant(workspace);
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      signal.throwIfAborted();
      const page = await items.erasure.walk(scope, "collections", { cursor });
      for (const { document } of page.rows) {
        const { kind, repository_id, collection_id, incarnation } = document as Record<string, string>;
        if (kind !== "collection" || repository_id === undefined) continue;
        if (collection_id !== undefined && incarnation !== undefined)
          yield { repository_id, collection_id, incarnation };
      }
      ({ cursor } = page);
    }
  }
}
