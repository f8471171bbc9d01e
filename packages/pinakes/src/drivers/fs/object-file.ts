/**
 * The file of an object: its bytes, then a footer of 40 bytes.
 *
 *   bytes 0–3   "PNKO"       4  format version, 1        5–7  zero        8–39  SHA-256 of the content
 *
 * The footer is last because a stream's hash is known only at its end; a truncated file has none and is CORRUPT.
 * A read of a whole object checks the hash; a read of a range checks only that the footer exists.
 * The etag is the first half of the hash in hex.
 */
import { createHash, type Hash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import type { ByteRange, ObjectHead, PutResult } from "../../ports/object-store.ts";
import { objectTooLarge } from "../../objects/object-driver.ts";
import type { Files, OpenFile } from "./files.ts";

const magic = Buffer.from([0x50, 0x4e, 0x4b, 0x4f, 1, 0, 0, 0]);
export const footerBytes = magic.length + 32;
const chunkBytes = 1_048_576;
const pieceBytes = 4_194_304;

/** Writes a new file and resolves once its content is on disk. */
export async function writeObjectFile(
  files: Files,
  path: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<PutResult> {
  const file = await files.open(path, "wx");
  try {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of chunks) {
      // In chunks, each hashed while the system writes it: a large object never blocks the event loop for long.
      for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
        const piece = chunk.subarray(at, at + pieceBytes);
        const written = writeAll(file, piece);
        hash.update(piece);
        await written;
      }
      bytes += chunk.byteLength;
    }
    const digest = hash.digest();
    await writeAll(file, Buffer.concat([magic, digest]));
    await file.sync();
    return { etag: etagOf(digest), bytes };
  } finally {
    await file.close();
  }
}

export async function readHead(file: OpenFile, key: string): Promise<ObjectHead> {
  const { bytes, digest, modifiedAt } = await readFooter(file, key);
  return { bytes, etag: etagOf(digest), modifiedAt };
}

export async function readBytes(
  file: OpenFile,
  key: string,
  range: ByteRange,
  bytesMax: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const footer = await readFooter(file, key);
  const length = Math.max(0, Math.min(range.end ?? footer.bytes, footer.bytes) - range.start);
  if (length > bytesMax) throw objectTooLarge(length, bytesMax);
  const result = Buffer.allocUnsafeSlow(length);
  const hash = range.start === 0 && length === footer.bytes ? createHash("sha256") : undefined;
  for (let at = 0; at < length; at += pieceBytes) {
    signal?.throwIfAborted();
    const read = readAll(file, key, result.subarray(at, at + pieceBytes), range.start + at);
    // The previous chunk, while the system reads this one.
    if (at > 0) hash?.update(result.subarray(at - pieceBytes, at));
    await read;
  }
  if (hash === undefined) return result;
  const rest = length % pieceBytes === 0 ? Math.min(length, pieceBytes) : length % pieceBytes;
  checkHash(hash.update(result.subarray(length - rest)), footer.digest, key);
  return result;
}

export async function* readChunks(
  file: OpenFile,
  key: string,
  range: ByteRange,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  yield* contentChunks(file, key, range, await readFooter(file, key), signal);
}

async function* contentChunks(
  file: OpenFile,
  key: string,
  range: ByteRange,
  footer: Footer,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const end = Math.min(range.end ?? footer.bytes, footer.bytes);
  const hash = range.start === 0 && end === footer.bytes ? createHash("sha256") : undefined;
  for (let position = range.start; position < end;) {
    signal?.throwIfAborted();
    const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, end - position));
    await readAll(file, key, chunk, position);
    hash?.update(chunk);
    position += chunk.byteLength;
    // Checked before the last chunk is returned: a reader that got everything has the right bytes.
    if (position === end && hash !== undefined) checkHash(hash, footer.digest, key);
    yield chunk;
  }
}

interface Footer {
  /** Size of the content, without the footer. */
  readonly bytes: number;
  readonly digest: Buffer;
  readonly modifiedAt: number;
}

function checkHash(hash: Hash, digest: Buffer, key: string): void {
  if (hash.digest().equals(digest)) return;
  throw corrupt(key, "its bytes do not match their checksum");
}

async function readFooter(file: OpenFile, key: string): Promise<Footer> {
  const { size, mtimeMs } = await file.stat();
  if (size < footerBytes) throw corrupt(key, "the file was truncated");
  const footer = Buffer.alloc(footerBytes);
  await readAll(file, key, footer, size - footerBytes);
  if (!footer.subarray(0, magic.length).equals(magic)) throw corrupt(key, "the file has no valid footer");
  return { bytes: size - footerBytes, digest: footer.subarray(magic.length), modifiedAt: Math.floor(mtimeMs) };
}

async function readAll(file: OpenFile, key: string, target: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < target.byteLength;) {
    const { bytesRead } = await file.read(target, done, target.byteLength - done, position + done);
    if (bytesRead === 0) throw corrupt(key, "the file ends too early");
    done += bytesRead;
  }
}

/** A write may write less than it got. */
async function writeAll(file: OpenFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done);
    done += bytesWritten;
  }
}

function etagOf(digest: Buffer): string {
  return digest.toString("hex", 0, 16);
}

function corrupt(key: string, what: string): PinakesError {
  return new PinakesError("CORRUPT", `Object ${JSON.stringify(key)} is corrupt: ${what}. Restore it from a backup.`);
}
