/** A form with fields and one file (RFC 7578), streamed if the file is a stream: nothing is buffered completely. */
import type { UploadBody } from "../api/knowledge-api.ts";

export interface Form {
  readonly type: string;
  readonly content: Blob | ReadableStream<Uint8Array>;
}

const pieceBytes = 64 * 1024;

/** Fields first: the server applies them to the files after them. */
export function fileForm(
  fields: Readonly<Record<string, string | undefined>>,
  file: { readonly name: string; readonly body: UploadBody },
  onBytes?: (sent: number) => void,
): Form {
  const boundary = `pinakes-${crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`],
  );
  const head = encoder.encode(
    `${parts.join("")}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename*=UTF-8''${encoded(file.name)}\r\ncontent-type: application/octet-stream\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  const type = `multipart/form-data; boundary=${boundary}`;
  const { body } = file;
  if (onBytes === undefined && (typeof body === "string" || body instanceof Uint8Array || body instanceof Blob))
    return { type, content: new Blob([head, body, tail] as ConstructorParameters<typeof Blob>[0]) };
  return { type, content: streamOf(framed(head, body, tail, onBytes)) };
}

async function* framed(
  head: Uint8Array,
  body: UploadBody,
  tail: Uint8Array,
  onBytes?: (sent: number) => void,
): AsyncGenerator<Uint8Array, void> {
  yield head;
  let sent = 0;
  for await (const piece of piecesOf(body)) {
    yield piece;
    sent += piece.byteLength;
    onBytes?.(sent);
  }
  yield tail;
}

/** The bytes of anything that can be uploaded, in pieces. */
export async function* piecesOf(body: UploadBody): AsyncGenerator<Uint8Array, void> {
  if (typeof body === "string" || body instanceof Uint8Array) {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    for (let at = 0; at < bytes.byteLength; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  } else yield* body instanceof Blob ? iterate(body.stream()) : Symbol.asyncIterator in body ? body : iterate(body);
}

/** Not every browser supports async iteration of streams. */
async function* iterate(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    reader.releaseLock();
  }
}

export function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

/** RFC 8187 allows fewer unescaped characters than encodeURIComponent leaves. */
function encoded(name: string): string {
  return encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
