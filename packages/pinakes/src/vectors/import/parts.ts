/** Splits rows into parts, each one delta. The same rows and the same part size give the same parts, so that a repeat is recognised. */
import { invariant } from "../../domain/invariant.ts";
import type { Changes, PatchRow, UpsertRow } from "../log/rows.ts";
import type { ForeignRow } from "./foreign-row.ts";

export interface Split {
  readonly rows: number;
  readonly bytes: number;
}

export interface Part {
  readonly changes: Changes;
  /** Rows of the producer, including those that a later one of this part overrides. */
  readonly rows: number;
}

export async function* inParts(rows: AsyncIterable<ForeignRow>, split: Split): AsyncGenerator<Part> {
  let part = new PartBuilder();
  for await (const row of rows) {
    const bytes = bytesOf(row);
    if (part.rows > 0 && (part.rows + 1 > split.rows || part.bytes + bytes > split.bytes)) {
      yield part.end();
      part = new PartBuilder();
    }
    part.add(row, bytes);
  }
  if (part.rows > 0) yield part.end();
}

/**
 * A delta applies puts, then patches, then deletes; a file is in the order of its lines. So each id is reduced to one change of each kind.
 */
class PartBuilder {
  readonly #puts = new Map<string, UpsertRow>();
  readonly #patches = new Map<string, PatchRow[]>();
  readonly #deletes = new Set<string>();
  rows = 0;
  bytes = 0;

  add({ op, row }: ForeignRow, bytes: number): void {
    this.rows += 1;
    this.bytes += bytes;
    const { id } = row;
    if (op === "patch") {
      if (!this.#deletes.has(id)) this.#patches.set(id, [...(this.#patches.get(id) ?? []), row]);
      return;
    }
    // The whole row is replaced or deleted: earlier changes are irrelevant.
    this.#patches.delete(id);
    this.#puts.delete(id);
    this.#deletes.delete(id);
    if (op === "put") this.#puts.set(id, row);
    else this.#deletes.add(id);
  }

  end(): Part {
    const changes = {
      upsert: [...this.#puts.values()],
      patch: [...this.#patches.values()].flat(),
      delete: [...this.#deletes],
    };
    const count = changes.upsert.length + changes.patch.length + changes.delete.length;
    invariant(count > 0 && count <= this.rows, "INTERNAL", "a part of a source has other rows than were added to it");
    return { changes, rows: this.rows };
  }
}

/** At least what an append counts. */
function bytesOf({ op, row }: ForeignRow): number {
  if (op === "delete") return 64 + row.id.length * 2;
  const metadata = row.metadata === undefined ? 0 : JSON.stringify(row.metadata).length * 2;
  return 64 + row.id.length * 2 + metadata + (op === "put" ? row.vector.length * 5 + (row.text?.length ?? 0) * 2 : 0);
}
