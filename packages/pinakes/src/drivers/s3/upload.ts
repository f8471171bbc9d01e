/**
 * A put: one request if the content fits into one part, otherwise a multipart upload, which becomes visible only when it is completed. A
 * failed upload is aborted, so that its parts cost nothing; `abortStaleUploads` ends those of killed processes.
 */
import type { CompletedPart, S3Client } from "@aws-sdk/client-s3";
import type { PutResult } from "../../ports/object-store.ts";
import type { S3Library } from "./driver.ts";

/** Also the most that one put buffers. S3 allows 10,000 parts, so this reaches far beyond objectBytesMax. */
export const partBytes = 8_388_608;

export interface UploadTarget {
  readonly s3: S3Library;
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly ifAbsent: boolean;
  readonly signal: AbortSignal | undefined;
}

export async function upload(target: UploadTarget, chunks: AsyncIterable<Uint8Array>): Promise<PutResult> {
  const parts = partsOf(chunks)[Symbol.asyncIterator]();
  const first = await parts.next();
  const head = first.done === true ? new Uint8Array() : first.value;
  const second = first.done === true ? first : await parts.next();
  if (second.done === true) return putWhole(target, head);
  return putInParts(target, [head, second.value], { [Symbol.asyncIterator]: () => parts });
}

async function putWhole(
  { s3, client, bucket, key, ifAbsent, signal }: UploadTarget,
  body: Uint8Array,
): Promise<PutResult> {
  const condition = ifAbsent ? { IfNoneMatch: "*" } : {};
  const { ETag } = await client.send(
    new s3.PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentLength: body.byteLength, ...condition }),
    withSignal(signal),
  );
  return { etag: plainEtag(ETag), bytes: body.byteLength };
}

async function putInParts(
  target: UploadTarget,
  first: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): Promise<PutResult> {
  const { s3, client, bucket, key, ifAbsent, signal } = target;
  const { UploadId } = await client.send(
    new s3.CreateMultipartUploadCommand({ Bucket: bucket, Key: key }),
    withSignal(signal),
  );
  const place = { Bucket: bucket, Key: key, UploadId };
  try {
    const done: CompletedPart[] = [];
    let bytes = 0;
    const send = async (body: Uint8Array): Promise<void> => {
      const PartNumber = done.length + 1;
      const { ETag } = await client.send(
        new s3.UploadPartCommand({ ...place, PartNumber, Body: body, ContentLength: body.byteLength }),
        withSignal(signal),
      );
      done.push({ PartNumber, ETag });
      bytes += body.byteLength;
    };
    for (const part of first) await send(part);
    for await (const part of rest) await send(part);
    const condition = ifAbsent ? { IfNoneMatch: "*" } : {};
    const { ETag } = await client.send(
      new s3.CompleteMultipartUploadCommand({ ...place, MultipartUpload: { Parts: done }, ...condition }),
      withSignal(signal),
    );
    return { etag: plainEtag(ETag), bytes };
  } catch (error) {
    // The original error matters more than the failed abort. The sweep ends such an upload later.
    await client.send(new s3.AbortMultipartUploadCommand(place)).catch(() => undefined);
    throw error;
  }
}

/** Chunks of any size as parts of exactly `partBytes`, the last one smaller: equal content makes equal parts, and so an equal etag. */
async function* partsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    while (bytes + rest.byteLength >= partBytes) {
      const taken = partBytes - bytes;
      yield Buffer.concat([...held, rest.subarray(0, taken)]);
      rest = rest.subarray(taken);
      [held, bytes] = [[], 0];
    }
    if (rest.byteLength > 0) held.push(rest);
    bytes += rest.byteLength;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

export function plainEtag(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}

export function withSignal(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}
