/** Encrypts and decrypts bodies of any size with one page in memory. */
import { createHash } from "node:crypto";
import { damaged, headerBytes, pageBytes, storedPageBytes, trailerBytes, type ObjectCipher } from "./layout.ts";

/** `result` has etag and length of the content once the last chunk was taken. */
export async function* sealedChunks(
  cipher: ObjectCipher,
  header: Uint8Array,
  chunks: AsyncIterable<Uint8Array>,
  result: { etag: string; bytes: number },
): AsyncGenerator<Uint8Array, void> {
  yield header;
  const digest = createHash("sha256");
  let page = 0;
  for await (const content of inPieces(chunks, pageBytes, 0)) {
    digest.update(content);
    result.bytes += content.byteLength;
    yield cipher.sealPage(page, content);
    page += 1;
  }
  result.etag = digest.digest("hex").slice(0, 32);
  yield cipher.sealTrailer(result);
}

/** The content of a whole stored object. Fails at its end if the object is shorter or longer than its trailer says. */
export async function* openedPages(
  key: string,
  stored: AsyncIterable<Uint8Array>,
  cipherOf: (header: Uint8Array) => Promise<ObjectCipher>,
): AsyncGenerator<Uint8Array, void> {
  const reader = new PieceReader(stored);
  try {
    const cipher = await cipherOf(await reader.take(headerBytes));
    const digest = createHash("sha256");
    let bytes = 0;
    for (let page = 0; ; page += 1) {
      const sealed = await reader.takeBefore(storedPageBytes, trailerBytes);
      if (sealed.byteLength === 0) break;
      const content = cipher.openPage(page, sealed);
      digest.update(content);
      bytes += content.byteLength;
      yield content;
    }
    const trailer = cipher.openTrailer(await reader.take(trailerBytes));
    const etag = digest.digest("hex").slice(0, 32);
    if (trailer.bytes !== bytes || trailer.etag !== etag)
      throw damaged(key, "its length or hash is not that of its trailer");
  } finally {
    await reader.close();
  }
}

/** Pieces of exactly `size` bytes, the last one shorter; `kept` bytes at the end are left out. */
async function* inPieces(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
  kept: number,
): AsyncGenerator<Uint8Array, void> {
  const reader = new PieceReader(chunks);
  try {
    for (;;) {
      const piece = await reader.takeBefore(size, kept);
      if (piece.byteLength === 0) return;
      yield piece;
    }
  } finally {
    await reader.close();
  }
}

class PieceReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #ended = false;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Up to `size` bytes; fewer only at the end. */
  async take(size: number): Promise<Uint8Array> {
    return this.takeBefore(size, 0);
  }

  /** Up to `size` bytes that have at least `kept` bytes after them. */
  async takeBefore(size: number, kept: number): Promise<Uint8Array> {
    while (!this.#ended && this.#bytes < size + kept) {
      const next = await this.#chunks.next();
      if (next.done === true) this.#ended = true;
      else {
        this.#waiting.push(next.value);
        this.#bytes += next.value.byteLength;
      }
    }
    return this.#shift(Math.max(0, Math.min(size, this.#bytes - kept)));
  }

  async close(): Promise<void> {
    if (!this.#ended) await this.#chunks.return?.();
  }

  #shift(size: number): Uint8Array {
    if (size === 0) return new Uint8Array();
    const all = this.#waiting.length === 1 ? (this.#waiting[0] as Uint8Array) : Buffer.concat(this.#waiting);
    const rest = all.subarray(size);
    this.#waiting = rest.byteLength === 0 ? [] : [rest];
    this.#bytes = rest.byteLength;
    return all.subarray(0, size);
  }
}
