/**
 * Opens ZIP archives by their directory and inflates single entries as streams.
 *
 * Safety. An entry is rejected by its declared size before it is inflated, and inflating stops as soon as it exceeds that size. So nothing
 * is ever inflated beyond the budget, however small the archive is.
 */
import { Inflate } from "fflate";
import { invalid } from "../../../domain/errors.ts";
import { parserLimits } from "../limits.ts";

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly encrypted: boolean;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly localHeader: number;
}

const damaged =
  "The file is damaged: it is not a complete ZIP archive, which a docx is. Upload it again, or open it in Word and save it again.";
const directoryEndBytes = 22;
const commentBytesMax = 65_535;

export class Zip {
  readonly entries: ReadonlyMap<string, ZipEntry>;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #inflatedBytesMax: number;
  #budget: number;

  constructor(bytes: Uint8Array, inflatedBytesMax: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#inflatedBytesMax = inflatedBytesMax;
    this.#budget = inflatedBytesMax;
    this.entries = this.#readDirectory();
  }

  /** Passes the entry's bytes to `take`, chunk by chunk. */
  inflate(entry: ZipEntry, take: (piece: Uint8Array, last: boolean) => void): void {
    if (entry.encrypted) throw invalid("The file has a password. Save it without one and upload it again.");
    if (entry.bytes > this.#budget)
      throw invalid(
        `The file grows to more than ${this.#inflatedBytesMax.toLocaleString("en-US")} bytes when it is unpacked, so it was not opened. Split the document.`,
      );
    this.#budget -= entry.bytes;
    const packed = this.#packed(entry);
    if (entry.method === 0) take(packed, true);
    else if (entry.method === 8) inflatePieces(packed, entry.bytes, take);
    else
      throw invalid(
        `The file uses an unsupported compression (method ${entry.method}). Open it in Word and save it again.`,
      );
  }

  #packed(entry: ZipEntry): Uint8Array {
    const at = entry.localHeader;
    if (at + 30 > this.#bytes.length || this.#view.getUint32(at, true) !== 0x04034b50) throw invalid(damaged);
    const start = at + 30 + this.#view.getUint16(at + 26, true) + this.#view.getUint16(at + 28, true);
    const end = start + entry.packedBytes;
    if (end > this.#bytes.length || (entry.method === 0 && entry.packedBytes !== entry.bytes)) throw invalid(damaged);
    return this.#bytes.subarray(start, end);
  }

  #readDirectory(): Map<string, ZipEntry> {
    const end = this.#directoryEnd();
    const count = this.#view.getUint16(end + 10, true);
    if (count > parserLimits.zipEntriesMax)
      throw invalid(`The file contains more than ${parserLimits.zipEntriesMax} parts; split the document.`);
    const entries = new Map<string, ZipEntry>();
    let at = this.#view.getUint32(end + 16, true);
    for (let i = 0; i < count; i += 1) {
      if (at + 46 > this.#bytes.length || this.#view.getUint32(at, true) !== 0x02014b50) throw invalid(damaged);
      const nameBytes = this.#view.getUint16(at + 28, true);
      const name = new TextDecoder().decode(this.#bytes.subarray(at + 46, at + 46 + nameBytes));
      entries.set(name.replaceAll("\\", "/"), {
        name,
        encrypted: (this.#view.getUint16(at + 8, true) & 1) === 1,
        method: this.#view.getUint16(at + 10, true),
        packedBytes: this.#view.getUint32(at + 20, true),
        bytes: this.#view.getUint32(at + 24, true),
        localHeader: this.#view.getUint32(at + 42, true),
      });
      at += 46 + nameBytes + this.#view.getUint16(at + 30, true) + this.#view.getUint16(at + 32, true);
    }
    return entries;
  }

  /** Searched from the end, since a comment may follow it. */
  #directoryEnd(): number {
    const lowest = Math.max(0, this.#bytes.length - directoryEndBytes - commentBytesMax);
    for (let at = this.#bytes.length - directoryEndBytes; at >= lowest; at -= 1) {
      if (this.#bytes[at] === 0x50 && this.#view.getUint32(at, true) === 0x06054b50) return at;
    }
    throw invalid(damaged);
  }
}

/** Small, since a chunk may inflate to a thousand times its size. */
const pieceBytes = 16_384;

function inflatePieces(
  packed: Uint8Array,
  declaredBytes: number,
  take: (piece: Uint8Array, last: boolean) => void,
): void {
  let total = 0;
  const inflate = new Inflate((piece, last) => {
    total += piece.length;
    if (total > declaredBytes)
      throw invalid("The file is damaged: a part of it is larger than it says. Open it in Word and save it again.");
    take(piece, last);
  });
  try {
    for (let at = 0; at < packed.length; at += pieceBytes)
      inflate.push(packed.subarray(at, at + pieceBytes), at + pieceBytes >= packed.length);
  } catch (error) {
    // fflate identifies errors by number; its messages mean nothing to the uploader.
    if (error instanceof Error && "code" in error && typeof error.code === "number")
      throw invalid(damaged, { cause: error });
    throw error;
  }
  if (total !== declaredBytes) throw invalid(damaged);
}
