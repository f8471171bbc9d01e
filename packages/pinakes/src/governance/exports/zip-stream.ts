/** A zip archive as a stream: one file at a time, never more than a chunk in memory. */
import { createHash } from "node:crypto";
import { Zip, ZipDeflate } from "fflate";

export interface ArchiveFile {
  /** Its path in the archive. */
  readonly name: string;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface WrittenFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ZipOptions {
  readonly modifiedAt: number;
  /** Called after each file. */
  readonly onFile: (file: WrittenFile) => void;
  /** The archive ends after the file with which it has this many bytes; the rest of `files` is not read. */
  readonly bytesMax: number;
}

/** Zip archives without the 64-bit extension hold fewer. */
const filesPerArchiveMax = 60_000;

export async function* zipStream(
  files: AsyncIterator<ArchiveFile>,
  { modifiedAt, onFile, bytesMax }: ZipOptions,
): AsyncGenerator<Uint8Array, { readonly ended: boolean }> {
  let ready: Uint8Array[] = [];
  let failure: Error | undefined;
  let bytes = 0;
  const zip = new Zip((error, chunk) => {
    if (error !== null) failure = error;
    else ready.push(chunk);
  });
  const take = (): readonly Uint8Array[] => {
    if (failure !== undefined) throw failure;
    const taken = ready;
    ready = [];
    for (const chunk of taken) bytes += chunk.byteLength;
    return taken;
  };
  let ended = false;
  for (let count = 0; bytes < bytesMax && count < filesPerArchiveMax; count += 1) {
    const next = await files.next();
    if (next.done === true) {
      ended = true;
      break;
    }
    const { name, body } = next.value;
    const entry = new ZipDeflate(name, { level: 6 });
    entry.mtime = modifiedAt;
    zip.add(entry);
    const digest = createHash("sha256");
    let size = 0;
    for await (const chunk of body) {
      digest.update(chunk);
      size += chunk.byteLength;
      entry.push(chunk);
      yield* take();
    }
    entry.push(new Uint8Array(), true);
    yield* take();
    onFile({ name, bytes: size, sha256: digest.digest("hex") });
  }
  zip.end();
  yield* take();
  return { ended };
}
