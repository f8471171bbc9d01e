/**
 * Which rows of older segments a commit deleted: "PINAKDEL", format u32, then one piece for each affected segment. A piece is the number of
 * rows and either a bitmap or ascending row numbers, whichever is shorter. Manifests refer to pieces by offset and hash.
 */
import { hash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { Bitmap } from "./bitmap.ts";

const magic = Buffer.from("PINAKDEL\u0001\0\0\0", "latin1");
const asBitmap = 0;
const asList = 1;

export interface DeletionsPiece {
  readonly offset: number;
  readonly bytes: number;
  readonly sha256: string;
}

export function encodeDeletions(bitmaps: readonly Bitmap[]): { bytes: Uint8Array; pieces: readonly DeletionsPiece[] } {
  const parts: Buffer[] = [magic];
  let offset = magic.length;
  const pieces = bitmaps.map((bitmap) => {
    const part = encodePiece(bitmap);
    parts.push(part);
    const piece = { offset, bytes: part.length, sha256: hash("sha256", part, "hex") };
    offset += part.length;
    return piece;
  });
  return { bytes: Buffer.concat(parts), pieces };
}

/** `file` is the whole object. */
export function decodeDeletions(
  file: Uint8Array,
  piece: DeletionsPiece & { readonly key: string },
  rows: number,
): Bitmap {
  const part = Buffer.from(file.subarray(piece.offset, piece.offset + piece.bytes));
  if (
    !Buffer.from(file.subarray(0, magic.length)).equals(magic) ||
    hash("sha256", part, "hex") !== piece.sha256 ||
    part.readUInt32LE(4) !== rows
  )
    throw new PinakesError(
      "CORRUPT",
      `The object ${piece.key} is corrupt: the hash of its deletions differs from the recorded one. Run fsck on its collection.`,
    );
  const bitmap = new Bitmap(rows);
  const words = new Uint32Array(new Uint8Array(part.subarray(8)).buffer);
  if (part.readUInt32LE(0) === asBitmap) bitmap.words.set(words);
  else for (const row of words) bitmap.add(row);
  return bitmap;
}

function encodePiece(bitmap: Bitmap): Buffer {
  const count = bitmap.count();
  const list = count < bitmap.words.length;
  const words = list ? Uint32Array.from(bitmap) : bitmap.words;
  return Buffer.concat([
    Buffer.from(Uint32Array.of(list ? asList : asBitmap, bitmap.rows).buffer),
    Buffer.from(words.slice().buffer),
  ]);
}
