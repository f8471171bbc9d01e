/** An external bucket, read under a prefix. Lists are complete: S3 shows every object that was put before the list began. */
import type * as s3 from "@aws-sdk/client-s3";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { SourceEntry, SourceFile, SourceReader } from "../../ports/source-reader.ts";
import type { BucketSettings } from "./settings.ts";

export interface S3Bucket {
  /** The objects under `prefix`, which is "" or ends with "/". */
  reader(prefix: string): SourceReader;
  close(): void;
}

const attemptsMax = 5;
const connectMsMax = 10_000;
const idleMsMax = 60_000;
const pageKeysMax = 1_000;

export async function openS3Bucket({ bucket, region, endpoint, credentials }: BucketSettings): Promise<S3Bucket> {
  const library = await import("@aws-sdk/client-s3");
  const client = new library.S3Client({
    // A store with a custom endpoint is rarely Amazon's: the bucket goes into the path.
    forcePathStyle: endpoint !== undefined,
    maxAttempts: attemptsMax,
    requestHandler: { connectionTimeout: connectMsMax, socketTimeout: idleMsMax },
    responseChecksumValidation: "WHEN_REQUIRED",
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials: { ...credentials } }),
  });
  return { reader: (prefix) => new S3SourceReader(library, client, bucket, prefix), close: () => client.destroy() };
}

class S3SourceReader implements SourceReader {
  readonly #s3: typeof s3;
  readonly #client: s3.S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(library: typeof s3, client: s3.S3Client, bucket: string, prefix: string) {
    this.#s3 = library;
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  async check(signal?: AbortSignal): Promise<void> {
    await this.#page(undefined, 1, signal);
  }

  async *list(signal?: AbortSignal): AsyncGenerator<SourceEntry> {
    for (let token: string | undefined; ;) {
      const page = await this.#page(token, pageKeysMax, signal);
      for (const { Key, Size, ETag } of page.Contents ?? []) {
        // A key with a trailing slash is a folder created in the console.
        if (Key !== undefined && !Key.endsWith("/")) yield this.#file(Key, Size, ETag);
      }
      token = page.NextContinuationToken;
      if (token === undefined) return;
    }
  }

  async stat(uri: string, signal?: AbortSignal): Promise<SourceFile | undefined> {
    const key = this.#key(uri);
    if (key.endsWith("/")) return undefined;
    try {
      const { ContentLength, ETag } = await this.#client.send(
        new this.#s3.HeadObjectCommand({ Bucket: this.#bucket, Key: key }),
        options(signal),
      );
      return this.#file(key, ContentLength, ETag);
    } catch (error) {
      if (!isMissing(error)) throw this.#error(error, signal);
      // A missing bucket gives the same response, and must not be treated as a missing file.
      await this.check(signal);
      return undefined;
    }
  }

  async *open(uri: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      const { Body } = await this.#client.send(
        new this.#s3.GetObjectCommand({ Bucket: this.#bucket, Key: this.#key(uri) }),
        options(signal),
      );
      yield* Body as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.#error(error, signal);
    }
  }

  async #page(
    token: string | undefined,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<s3.ListObjectsV2CommandOutput> {
    const request = {
      Bucket: this.#bucket,
      Prefix: this.#prefix,
      MaxKeys: limit,
      ContinuationToken: token,
    };
    try {
      return await this.#client.send(new this.#s3.ListObjectsV2Command(request), options(signal));
    } catch (error) {
      throw this.#error(error, signal);
    }
  }

  #file(key: string, bytes: number | undefined, etag: string | undefined): SourceFile {
    return {
      uri: `s3://${this.#bucket}/${key}`,
      name: key.slice(key.lastIndexOf("/") + 1),
      bytes: bytes ?? 0,
      etag: (etag ?? "").replaceAll('"', ""),
    };
  }

  #key(uri: string): string {
    const start = `s3://${this.#bucket}/`;
    if (!uri.startsWith(`${start}${this.#prefix}`)) throw invalid(`${show(uri)} is not under ${start}${this.#prefix}.`);
    return uri.slice(start.length);
  }

  /** The SDK has already retried; this error is final for the call. */
  #error(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted === true) return signal.reason;
    if (!(error instanceof Error) || PinakesError.isInstance(error)) return error;
    const status = statusOf(error);
    const cause = { cause: error };
    const where = `"s3://${this.#bucket}/${this.#prefix}"`;
    if (status === 404)
      return new PinakesError(
        "NOT_FOUND",
        `${where}: ${error.name}. Is the bucket, or the object, still there?`,
        cause,
      );
    if (status === 401 || status === 403) {
      return new PinakesError(
        "FORBIDDEN",
        `S3 refused access to ${where}: ${error.name}. Check the server's credentials and the bucket's policy.`,
        cause,
      );
    }
    return new PinakesError("UNAVAILABLE", `S3 did not answer for ${where}: ${error.name}: ${error.message}`, cause);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && statusOf(error) === 404;
}

function statusOf(error: Error): number | undefined {
  return (error as Error & { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

function options(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}
