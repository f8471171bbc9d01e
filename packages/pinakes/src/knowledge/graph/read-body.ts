/**
 * The body of a load, before it is parsed. A body that is small, or must be complete before anything is stored, is buffered first, and its
 * blank nodes are named by its hash: sending it again gives the same triples. A larger one is parsed as it arrives, and its blank nodes get
 * fresh names each time.
 */
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PinakesError } from "../../domain/errors.ts";

type Bytes = AsyncIterable<Uint8Array>;

export interface ReadBody extends AsyncDisposable {
  /** Of the whole body; undefined if it is streamed. */
  readonly sha256: string | undefined;
  /** From the start, each time; only once if there is no hash. */
  chunks(): Bytes;
}

interface ReadBodyOptions {
  /** Kept in memory up to this size. */
  readonly memoryBytesMax: number;
  /** Buffer it whatever its size: the rest goes to a file. */
  readonly whole: boolean;
}

export async function readBody(body: Bytes, { memoryBytesMax, whole }: ReadBodyOptions): Promise<ReadBody> {
  const iterator = body[Symbol.asyncIterator]();
  const hash = createHash("sha256");
  const head: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= memoryBytesMax) {
    const { done, value } = await iterator.next();
    if (done === true) return inMemory(head, hash);
    // The sender may reuse its buffer.
    const kept = new Uint8Array(value);
    head.push(kept);
    hash.update(kept);
    bytes += kept.byteLength;
  }
  return whole ? inFile(head, iterator, hash) : asItComes(head, iterator);
}

async function nothingToDo(): Promise<void> {}

function inMemory(head: readonly Uint8Array[], hash: Hash): ReadBody {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield* head;
  };
  return { sha256: hash.digest("hex"), chunks, [Symbol.asyncDispose]: nothingToDo };
}

function asItComes(head: Uint8Array[], rest: AsyncIterator<Uint8Array>): ReadBody {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    try {
      // Frees each chunk once it has been read.
      for (let first = head.shift(); first !== undefined; first = head.shift()) yield first;
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
    } finally {
      await rest.return?.();
    }
  };
  return { sha256: undefined, chunks, [Symbol.asyncDispose]: nothingToDo };
}

async function inFile(head: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>, hash: Hash): Promise<ReadBody> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "pinakes-load-")).catch((error: unknown) => {
    throw new PinakesError(
      "UNAVAILABLE",
      `A body of this size is buffered in the folder for temporary files, ${tmpdir()}, which is not writable.`,
      {
        cause: error,
      },
    );
  });
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "body");
  const file = await open(path, "w");
  try {
    for (const chunk of head) await file.writeFile(chunk);
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      hash.update(next.value);
      await file.writeFile(next.value);
    }
  } finally {
    await file.close();
    await rest.return?.();
  }
  const kept = undo.move();
  return {
    sha256: hash.digest("hex"),
    chunks: () => createReadStream(path) as Bytes,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
