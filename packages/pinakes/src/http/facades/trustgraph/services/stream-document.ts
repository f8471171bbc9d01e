/** A document in chunks: all as messages of a socket, or one per request, by index. */
import { invalid } from "../../../../domain/errors.ts";
import type { Knowledge } from "../../../../knowledge/index.ts";
import type { Call } from "../call.ts";
import { integer, text } from "../fields.ts";
import type { Message, Reply } from "./service.ts";

const chunkBytes = { min: 1, max: 33_554_432, otherwise: 1_048_576 };

export async function streamDocument({ library }: Pick<Knowledge, "library">, call: Call): Promise<Reply> {
  // The newer client sends 0 for the default.
  const size = integer(call.request, "chunk-size", { ...chunkBytes, min: 0 }) || chunkBytes.otherwise;
  const { document, body } = await library.documents.content(call.caller, text(call.request, "document-id"));
  const total = Math.max(1, Math.ceil(document.bytes / size));
  const shown = (chunk: Uint8Array, index: number): Message => ({
    content: Buffer.from(chunk).toString("base64"),
    "chunk-index": index,
    "chunks-received": index + 1,
    "total-chunks": total,
    "bytes-received": Math.min((index + 1) * size, document.bytes),
    "total-bytes": document.bytes,
  });
  const index = call.request["chunk-index"];
  if (call.streams && (index === undefined || index === null)) return everyChunk(inChunks(body, size), shown);
  const wanted = integer(call.request, "chunk-index", { min: 0, max: 1_000_000_000, otherwise: 0 });
  if (wanted >= total) throw invalid(`chunk-index: the document has ${total} chunks, numbered from 0.`);
  let at = 0;
  for await (const chunk of inChunks(body, size)) {
    if (at === wanted) return shown(chunk, at);
    at += 1;
  }
  return shown(new Uint8Array(), wanted);
}

async function* everyChunk(
  chunks: AsyncIterable<Uint8Array>,
  shown: (chunk: Uint8Array, index: number) => Message,
): AsyncGenerator<Message> {
  let index = 0;
  for await (const chunk of chunks) {
    yield shown(chunk, index);
    index += 1;
  }
  if (index === 0) yield shown(new Uint8Array(), 0);
}

async function* inChunks(body: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let waiting: Buffer = Buffer.alloc(0);
  for await (const bytes of body) {
    waiting = waiting.length === 0 ? Buffer.from(bytes) : Buffer.concat([waiting, bytes]);
    while (waiting.length >= size) {
      yield waiting.subarray(0, size);
      waiting = waiting.subarray(size);
    }
  }
  if (waiting.length > 0) yield waiting;
}
