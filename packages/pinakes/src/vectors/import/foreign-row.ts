/** One change as a producer wrote it, with its location for messages. */
import { createHash, type Hash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { canonicalPairs } from "../../runtime/canonical-json.ts";
import { checkRows, type PatchRow, type UpsertRow } from "../log/rows.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import type { Row } from "../row.ts";

export type ForeignRow =
  | { readonly op: "put"; readonly row: UpsertRow; readonly where: string }
  | { readonly op: "patch"; readonly row: PatchRow; readonly where: string }
  | { readonly op: "delete"; readonly row: { readonly id: string }; readonly where: string };

/** By the rules of an append; messages name the location in the producer's file instead of that in the call. */
export function checkForeignRow(foreign: ForeignRow, settings: CollectionSettings): Row {
  try {
    const { rows } = checkRows(asChanges(foreign), settings);
    return rows[0] as Row;
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    throw new PinakesError(
      error.code,
      `${foreign.where}: ${error.detail.replace(/^(?:upsert|patch|delete)\[0\]\.?/, "")}`,
      { cause: error },
    );
  }
}

function asChanges(foreign: ForeignRow) {
  if (foreign.op === "put") return { upsert: [foreign.row] };
  return foreign.op === "patch" ? { patch: [foreign.row] } : { delete: [foreign.row.id] };
}

/** Of the rows in their order: how a file writes them (spaces, order of keys, the storage of vectors) makes no difference. */
export class Fingerprint {
  readonly #hash: Hash = createHash("sha256");

  add({ op, id, vector, text, metadata }: Row): void {
    this.#hash.update(
      `${JSON.stringify([op, id, text ?? null, metadata === undefined ? null : canonicalPairs(metadata)])}\n`,
    );
    if (vector !== undefined) this.#hash.update(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
  }

  end(): string {
    return this.#hash.digest("hex");
  }
}
