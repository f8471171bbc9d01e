/**
 * Objects in an S3 bucket (or a compatible one). S3 gives what the port requires: a put is visible whole or not at all, and every read and
 * list that begins afterwards sees it.
 *
 * The etag is S3's: a hash of the content (of its parts, for a large one). With SSE-KMS it is not; then equal content may have different
 * etags, and nothing in Pinakes depends on that.
 */
import type * as s3 from "@aws-sdk/client-s3";
import {
  objectExists,
  objectTooLarge,
  type DriverListRequest,
  type DriverPutOptions,
  type ObjectDriver,
} from "../../objects/object-driver.ts";
import type {
  ByteRange,
  ListedObject,
  ObjectHead,
  ObjectStoreCapabilities,
  PutResult,
} from "../../ports/object-store.ts";
import { PinakesError } from "../../domain/errors.ts";
import { isBeyondEnd, isConditionFailed, isMissing, toPinakesError } from "./errors.ts";
import { plainEtag, upload, withSignal } from "./upload.ts";

export type S3Library = typeof s3;

export interface S3Location {
  readonly bucket: string;
  /** Prefix of every key, with its own separator; may be empty. */
  readonly prefix: string;
}

const listKeysMax = 1_000;

export class S3ObjectDriver implements ObjectDriver {
  readonly capabilities: ObjectStoreCapabilities;
  readonly #s3: S3Library;
  readonly #client: s3.S3Client;
  readonly #place: S3Location;

  constructor(library: S3Library, client: s3.S3Client, place: S3Location, conditionalPut: boolean) {
    this.#s3 = library;
    this.#client = client;
    this.#place = place;
    this.capabilities = { driver: "s3", conditionalPut, durable: true };
  }

  async put(
    key: string,
    chunks: AsyncIterable<Uint8Array>,
    { ifAbsent, signal }: DriverPutOptions,
  ): Promise<PutResult> {
    // An error of the source is the caller's own and is rethrown; only S3's errors are translated.
    let broken: { readonly error: unknown } | undefined;
    async function* source(): AsyncGenerator<Uint8Array, void> {
      try {
        yield* chunks;
      } catch (error) {
        broken = { error };
        throw error;
      }
    }
    try {
      return await upload({ s3: this.#s3, client: this.#client, ...this.#at(key), ifAbsent, signal }, source());
    } catch (error) {
      if (broken?.error === error) throw error;
      throw ifAbsent && isConditionFailed(error)
        ? objectExists(key)
        : toPinakesError(error, this.#place.bucket, signal);
    }
  }

  async get(key: string, range: ByteRange, bytesMax: number, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    return this.#call(signal, async () => {
      const body = await this.#open(key, range, bytesMax, signal);
      return body instanceof Uint8Array || body === undefined ? body : body.transformToByteArray();
    });
  }

  async stream(key: string, range: ByteRange, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    return (await this.head(key, signal)) === undefined ? undefined : this.#chunks(key, range, signal);
  }

  async head(key: string, signal?: AbortSignal): Promise<ObjectHead | undefined> {
    return this.#call(signal, async () => {
      const { bucket, key: stored } = this.#at(key);
      const found = await absent(
        this.#client.send(new this.#s3.HeadObjectCommand({ Bucket: bucket, Key: stored }), withSignal(signal)),
      );
      return found === undefined
        ? undefined
        : { bytes: found.ContentLength ?? 0, etag: plainEtag(found.ETag), modifiedAt: inSeconds(found.LastModified) };
    });
  }

  async list({ prefix, after, limit, signal }: DriverListRequest): Promise<readonly ListedObject[]> {
    return this.#call(signal, async () => {
      const found: ListedObject[] = [];
      let start = after;
      for (;;) {
        const page = await this.#page(prefix, start, Math.min(listKeysMax, limit - found.length), signal);
        found.push(...page.objects);
        if (!page.more || found.length >= limit) return found;
        start = found.at(-1)?.key;
      }
    });
  }

  async delete(keys: readonly string[], signal?: AbortSignal): Promise<void> {
    if (keys.length === 0) return;
    await this.#call(signal, async () => {
      const Objects = keys.map((key) => ({ Key: this.#at(key).key }));
      const { Errors = [] } = await this.#client.send(
        new this.#s3.DeleteObjectsCommand({ Bucket: this.#place.bucket, Delete: { Objects, Quiet: true } }),
        withSignal(signal),
      );
      const [failed] = Errors;
      if (failed !== undefined) {
        throw new PinakesError(
          "UNAVAILABLE",
          `S3 did not delete ${Errors.length} of ${keys.length} objects (${failed.Code ?? "no code"}: ${failed.Message ?? ""}). Repeat the call.`,
        );
      }
    });
  }

  /** Aborts multipart uploads that a killed process left behind. Young ones may still be running. */
  async abortStaleUploads(startedBefore: Date): Promise<number> {
    return this.#call(undefined, async () => {
      const { bucket, prefix } = this.#place;
      const { Uploads = [] } = await this.#client.send(
        new this.#s3.ListMultipartUploadsCommand({ Bucket: bucket, ...(prefix === "" ? {} : { Prefix: prefix }) }),
      );
      const stale = Uploads.filter(({ Initiated }) => Initiated !== undefined && Initiated < startedBefore);
      for (const { Key, UploadId } of stale)
        await this.#client.send(new this.#s3.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
      return stale.length;
    });
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #at(key: string): { bucket: string; key: string } {
    return { bucket: this.#place.bucket, key: this.#place.prefix + key };
  }

  /** The body of the range, not read yet; bytes if there is nothing to read; undefined if there is no object. */
  async #open(key: string, range: ByteRange, bytesMax: number, signal: AbortSignal | undefined) {
    if (range.end === range.start) return (await this.head(key, signal)) === undefined ? undefined : new Uint8Array();
    const { bucket, key: stored } = this.#at(key);
    try {
      const request = new this.#s3.GetObjectCommand({ Bucket: bucket, Key: stored, ...rangeHeader(range) });
      const found = await absent(this.#client.send(request, withSignal(signal)));
      if (found?.Body === undefined) return undefined;
      const bytes = found.ContentLength ?? 0;
      if (bytes <= bytesMax) return found.Body;
      // Not read to its end: the connection would otherwise stay busy.
      if ("destroy" in found.Body) found.Body.destroy();
      throw objectTooLarge(bytes, bytesMax);
    } catch (error) {
      if (isBeyondEnd(error)) return new Uint8Array();
      throw error;
    }
  }

  async *#chunks(key: string, range: ByteRange, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void> {
    const body = await this.#call(signal, () => this.#open(key, range, Number.POSITIVE_INFINITY, signal));
    if (body === undefined)
      throw new PinakesError("NOT_FOUND", `The object ${JSON.stringify(key)} was deleted before it was read.`);
    if (body instanceof Uint8Array) return;
    try {
      yield* body as unknown as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw toPinakesError(error, this.#place.bucket, signal);
    }
  }

  async #page(
    prefix: string,
    after: string | undefined,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<{ objects: ListedObject[]; more: boolean }> {
    const { bucket, prefix: own } = this.#place;
    // Encoded, because XML cannot represent every character of a key. A server that ignores the option omits it in the answer.
    const request = {
      Bucket: bucket,
      Prefix: own + prefix,
      MaxKeys: limit,
      EncodingType: "url" as const,
      ...(after === undefined ? {} : { StartAfter: own + after }),
    };
    const page = await this.#client.send(new this.#s3.ListObjectsV2Command(request), withSignal(signal));
    const decode =
      page.EncodingType === "url"
        ? (text: string) => decodeURIComponent(text.replaceAll("+", " "))
        : (text: string) => text;
    const objects = (page.Contents ?? []).map(({ Key = "", Size = 0, LastModified }) => ({
      key: decode(Key).slice(own.length),
      bytes: Size,
      modifiedAt: inSeconds(LastModified),
    }));
    return { objects, more: page.IsTruncated === true };
  }

  async #call<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw toPinakesError(error, this.#place.bucket, signal);
    }
  }
}

async function absent<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** A header has seconds, a list may have more: the same precision for both. */
function inSeconds(time: Date | undefined): number {
  return Math.floor((time?.getTime() ?? 0) / 1000) * 1000;
}

function rangeHeader({ start, end }: ByteRange): { Range?: string } {
  if (start === 0 && end === undefined) return {};
  return { Range: `bytes=${start}-${end === undefined ? "" : end - 1}` };
}
