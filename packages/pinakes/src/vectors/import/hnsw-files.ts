/**
 * The vectors of a Chroma segment that its HNSW index has on disk, little-endian:
 *
 *   header.bin            0 version i32 = 1 · 4 offsetLevel0 · 12 capacity · 20 elements · 28 bytes of an element · 36 offset of the
 *                         label · 44 offset of the vector (u64 each), then the graph's parameters
 *   data_level0.bin       the elements: links (bit 0 of byte 2: deleted), vector, label u64; room for `capacity` of them
 *   index_metadata.pickle id_to_label
 *
 * With the cosine metric Chroma keeps vectors scaled to length 1 there: the directions are the producer's, the lengths are lost.
 */
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PinakesError } from "../../domain/errors.ts";
import { vectorLimits } from "../limits.ts";
import { readPickle } from "./pickle.ts";

export interface HnswElement {
  readonly id: string;
  readonly vector: Uint8Array;
}

export interface HnswIndex {
  readonly dims: number;
  /** Of versions before Chroma kept it in its tables. */
  readonly maxSeqId: number | undefined;
  readonly elements: AsyncGenerator<HnswElement>;
}

const headerBytes = 52;
const chunkBytes = 4 * 1024 ** 2;

interface Header {
  readonly count: number;
  readonly elementBytes: number;
  readonly labelOffset: number;
  readonly vectorOffset: number;
}

/** `name` is the name of the folder in messages. */
export async function openHnswIndex(folder: string, name: string): Promise<HnswIndex> {
  const header = readHeader(await readFile(join(folder, "header.bin")), name);
  const labels = readPickle(await readFile(join(folder, "index_metadata.pickle")), `${name}/index_metadata.pickle`);
  const idToLabel = labels.get("id_to_label");
  if (!(idToLabel instanceof Map)) throw damaged(name, "index_metadata.pickle has no id_to_label");
  const idOf = new Map<number, string>();
  for (const [id, label] of idToLabel) {
    if (typeof id !== "string" || typeof label !== "number")
      throw damaged(name, "id_to_label does not map strings to numbers");
    idOf.set(label, id);
  }
  const maxSeqId = labels.get("max_seq_id");
  return {
    dims: (header.labelOffset - header.vectorOffset) / 4,
    maxSeqId: typeof maxSeqId === "number" ? maxSeqId : undefined,
    elements: elements(join(folder, "data_level0.bin"), name, header, idOf),
  };
}

function readHeader(bytes: Buffer, name: string): Header {
  if (bytes.length < headerBytes) throw damaged(name, "header.bin is too short");
  const version = bytes.readInt32LE(0);
  if (version !== 1)
    throw new PinakesError(
      "NOT_SUPPORTED",
      `${name}/header.bin: version ${version} of Chroma's index files is not known; convert the directory to NDJSON.`,
    );
  const [count, elementBytes, labelOffset, vectorOffset] = [20, 28, 36, 44].map((at) =>
    Number(bytes.readBigUInt64LE(at)),
  ) as [number, number, number, number];
  const dims = (labelOffset - vectorOffset) / 4;
  const sound =
    Number.isInteger(dims) &&
    dims >= vectorLimits.dimsMin &&
    dims <= vectorLimits.dimsMax &&
    elementBytes >= labelOffset + 8;
  if (!sound || elementBytes > chunkBytes || !Number.isSafeInteger(count))
    throw damaged(name, "header.bin has impossible sizes");
  return { count, elementBytes, labelOffset, vectorOffset };
}

async function* elements(
  path: string,
  name: string,
  header: Header,
  idOf: ReadonlyMap<number, string>,
): AsyncGenerator<HnswElement> {
  const { count, elementBytes, labelOffset, vectorOffset } = header;
  await using file = await open(path, "r");
  const perChunk = Math.floor(chunkBytes / elementBytes);
  const chunk = Buffer.alloc(perChunk * elementBytes);
  for (let first = 0; first < count; first += perChunk) {
    const wanted = Math.min(perChunk, count - first) * elementBytes;
    for (let have = 0; have < wanted;) {
      const { bytesRead } = await file.read(chunk, have, wanted - have, first * elementBytes + have);
      if (bytesRead === 0) throw damaged(name, "data_level0.bin is shorter than header.bin says");
      have += bytesRead;
    }
    for (let at = 0; at < wanted; at += elementBytes) {
      const deleted = ((chunk[at + 2] as number) & 1) === 1;
      const id = idOf.get(Number(chunk.readBigUInt64LE(at + labelOffset)));
      // Deleted, or replaced under another label: an element without an id is unused.
      if (!deleted && id !== undefined)
        yield { id, vector: Uint8Array.prototype.slice.call(chunk, at + vectorOffset, at + labelOffset) };
    }
  }
}

function damaged(name: string, why: string): PinakesError {
  return new PinakesError(
    "CORRUPT",
    `${name}: the files of this Chroma index are damaged or incomplete: ${why}. Upload the directory again.`,
  );
}
