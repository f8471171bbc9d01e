/**
 * An ObjectDriver that encrypts what another one stores (RFC 0019). Callers see the same contract: sizes, etags and ranges are those of the
 * content.
 *
 * Invariant: no byte of content leaves this module before the tag of its page was verified; a whole read also verifies length and hash.
 */
import { createHash } from "node:crypto";
import { hasCode } from "../../domain/errors.ts";
import { ByteCache } from "../../runtime/byte-cache.ts";
import type {
  ByteRange,
  ListedObject,
  ObjectHead,
  ObjectStoreCapabilities,
  PutResult,
} from "../../ports/object-store.ts";
import { objectTooLarge, type DriverListRequest, type DriverPutOptions, type ObjectDriver } from "../object-driver.ts";
import {
  contentBytes,
  damaged,
  headerBytes,
  newHeader,
  ObjectCipher,
  pageBytes,
  pageStart,
  readHeader,
  storedBytes,
  storedPageBytes,
  tagBytes,
  trailerBytes,
} from "./layout.ts";
import { ownerOf, type ObjectKeys } from "./object-keys.ts";
import { openedPages, sealedChunks } from "./streams.ts";

/** What a ranged read must know of an object; the same until the object is replaced. */
interface Facts {
  /** Of the stored object: tells whether it was replaced. */
  readonly storedEtag: string;
  readonly etag: string;
  readonly content: number;
  readonly cipher: ObjectCipher;
  /** For the cache: every entry counts the same. */
  readonly bytes: 1;
}

const cachedObjectsMax = 8_192;

export function encryptedDriver(driver: ObjectDriver, keys: ObjectKeys): ObjectDriver {
  return new EncryptedDriver(driver, keys);
}

class EncryptedDriver implements ObjectDriver {
  readonly capabilities: ObjectStoreCapabilities;
  readonly #driver: ObjectDriver;
  readonly #keys: ObjectKeys;
  readonly #facts = new ByteCache<Facts>(cachedObjectsMax);

  constructor(driver: ObjectDriver, keys: ObjectKeys) {
    this.capabilities = driver.capabilities;
    this.#driver = driver;
    this.#keys = keys;
  }

  async put(key: string, chunks: AsyncIterable<Uint8Array>, options: DriverPutOptions): Promise<PutResult> {
    const owner = ownerOf(key);
    if (owner === undefined) return this.#driver.put(key, chunks, options);
    const dataKey = await this.#keys.current(owner);
    const header = newHeader(dataKey.id);
    const cipher = new ObjectCipher(dataKey, header, key);
    const result = { etag: "", bytes: 0 };
    await this.#driver.put(key, sealedChunks(cipher, header.bytes, chunks, result), options);
    return result;
  }

  async get(key: string, range: ByteRange, bytesMax: number, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    const owner = ownerOf(key);
    if (owner === undefined) return this.#driver.get(key, range, bytesMax, signal);
    if (range.start === 0 && range.end === undefined) return this.#getWhole(key, owner, bytesMax, signal);
    return this.#ranged(key, owner, range, signal, async (facts, part) => {
      if (part.end - part.start > bytesMax) throw objectTooLarge(part.end - part.start, bytesMax);
      const stored = await this.#driver.get(
        key,
        part.stored,
        storedBytes(part.end - part.start + 2 * pageBytes),
        signal,
      );
      if (stored === undefined) return undefined;
      const pages = openPages(key, facts.cipher, part, stored);
      return pages.subarray(part.start - part.firstPage * pageBytes, part.end - part.firstPage * pageBytes);
    });
  }

  async stream(key: string, range: ByteRange, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    const owner = ownerOf(key);
    if (owner === undefined) return this.#driver.stream(key, range, signal);
    if (range.start === 0 && range.end === undefined) {
      const stored = await this.#driver.stream(key, range, signal);
      return stored === undefined ? undefined : openedPages(key, stored, (bytes) => this.#cipherOf(key, owner, bytes));
    }
    // Page by page through `get`, so that a stream has the same checks and the same behaviour when the object is replaced.
    const facts = await this.#read(key, owner, signal);
    return facts === undefined ? undefined : this.#chunks(key, range, facts.content, signal);
  }

  async head(key: string, signal?: AbortSignal): Promise<ObjectHead | undefined> {
    const owner = ownerOf(key);
    const head = await this.#driver.head(key, signal);
    if (owner === undefined || head === undefined) return head;
    const facts = await this.#factsOf(key, owner, head, signal);
    return facts === undefined ? undefined : { bytes: facts.content, etag: facts.etag, modifiedAt: head.modifiedAt };
  }

  async list(request: DriverListRequest): Promise<readonly ListedObject[]> {
    const listed = await this.#driver.list(request);
    return listed.map((entry) =>
      ownerOf(entry.key) === undefined ? entry : { ...entry, bytes: contentBytes(entry.bytes) ?? 0 },
    );
  }

  async delete(keys: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.#driver.delete(keys, signal);
  }

  async close(): Promise<void> {
    await this.#driver.close();
  }

  async #getWhole(
    key: string,
    owner: string,
    bytesMax: number,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array | undefined> {
    let stored: Uint8Array | undefined;
    try {
      stored = await this.#driver.get(key, { start: 0 }, storedBytes(bytesMax), signal);
    } catch (error) {
      const head = hasCode(error, "LIMIT_EXCEEDED") ? await this.#driver.head(key, signal) : undefined;
      throw head === undefined ? error : objectTooLarge(contentBytes(head.bytes) ?? head.bytes, bytesMax);
    }
    if (stored === undefined) return undefined;
    const bytes = contentBytes(stored.byteLength);
    if (bytes === undefined) throw damaged(key, "is cut off, or was not encrypted");
    const cipher = await this.#cipherOf(key, owner, stored);
    const end = stored.byteLength - trailerBytes;
    const trailer = cipher.openTrailer(stored.subarray(end));
    const part = { firstPage: 0, start: 0, end: bytes };
    const content = openPages(key, cipher, part, stored.subarray(headerBytes, end));
    const etag = createHash("sha256").update(content).digest("hex").slice(0, 32);
    if (trailer.bytes !== bytes || trailer.etag !== etag)
      throw damaged(key, "its length or hash is not that of its trailer");
    return content;
  }

  /** Runs a read of some pages; if the object was replaced since its facts were cached, once more. */
  async #ranged(
    key: string,
    owner: string,
    range: ByteRange,
    signal: AbortSignal | undefined,
    read: (facts: Facts, part: Part) => Promise<Uint8Array | undefined>,
  ): Promise<Uint8Array | undefined> {
    const cached = this.#facts.get(key);
    // A range that reaches beyond the known end may be within an object that replaced it.
    const within = cached !== undefined && range.end !== undefined && range.end <= cached.content;
    if (within) {
      try {
        return range.start === range.end ? new Uint8Array() : await read(cached, partOf(range, cached.content));
      } catch (error) {
        if (!hasCode(error, "CORRUPT")) throw error;
      }
    }
    const facts = await this.#read(key, owner, signal);
    if (facts === undefined) return undefined;
    const part = partOf(range, facts.content);
    return part.start === part.end ? new Uint8Array() : read(facts, part);
  }

  async #read(key: string, owner: string, signal: AbortSignal | undefined): Promise<Facts | undefined> {
    const head = await this.#driver.head(key, signal);
    return head === undefined ? undefined : this.#factsOf(key, owner, head, signal);
  }

  async #factsOf(
    key: string,
    owner: string,
    head: ObjectHead,
    signal: AbortSignal | undefined,
  ): Promise<Facts | undefined> {
    const cached = this.#facts.get(key);
    if (cached !== undefined && cached.storedEtag === head.etag) return cached;
    const content = contentBytes(head.bytes);
    if (content === undefined) throw damaged(key, "is cut off, or was not encrypted");
    const [header, trailer] = await Promise.all([
      this.#driver.get(key, { start: 0, end: headerBytes }, headerBytes, signal),
      this.#driver.get(key, { start: head.bytes - trailerBytes, end: head.bytes }, trailerBytes, signal),
    ]);
    if (header === undefined || trailer === undefined) return undefined;
    const cipher = await this.#cipherOf(key, owner, header);
    const { etag, bytes } = cipher.openTrailer(trailer);
    if (bytes !== content) throw damaged(key, "its length is not that of its trailer");
    const facts: Facts = { storedEtag: head.etag, etag, content, cipher, bytes: 1 };
    this.#facts.put(key, facts);
    return facts;
  }

  async #cipherOf(key: string, owner: string, stored: Uint8Array): Promise<ObjectCipher> {
    const header = readHeader(stored, key);
    return new ObjectCipher(await this.#keys.byId(owner, header.keyId), header, key);
  }

  async *#chunks(
    key: string,
    { start, end }: ByteRange,
    content: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void> {
    const last = Math.min(end ?? content, content);
    const chunk = 16 * pageBytes;
    for (let at = start; at < last; at = (Math.floor(at / chunk) + 1) * chunk) {
      const to = Math.min((Math.floor(at / chunk) + 1) * chunk, last);
      const bytes = await this.get(key, { start: at, end: to }, chunk, signal);
      if (bytes === undefined || bytes.byteLength < to - at)
        throw damaged(key, "was removed or replaced while it was read");
      yield bytes;
    }
  }
}

interface Pages {
  readonly firstPage: number;
  /** Of the content, half open. */
  readonly start: number;
  readonly end: number;
}

interface Part extends Pages {
  readonly stored: { readonly start: number; readonly end: number };
}

/** The pages that a range of the content touches. */
function partOf({ start: wanted, end: wantedEnd }: ByteRange, content: number): Part {
  const end = Math.min(wantedEnd ?? content, content);
  const start = Math.min(wanted, end);
  const firstPage = Math.floor(start / pageBytes);
  const pagesEnd = Math.ceil(end / pageBytes);
  const lastPageEnd = Math.min(pagesEnd * pageBytes, content);
  const storedEnd = storedBytes(lastPageEnd) - trailerBytes;
  return { firstPage, start, end, stored: { start: pageStart(firstPage), end: storedEnd } };
}

/** A plain Uint8Array with memory of its own, as drivers return: a Buffer may be a view of memory that others use, and its `slice` does not copy. */
function openPages(
  key: string,
  cipher: ObjectCipher,
  { firstPage, end }: Pages,
  stored: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const pages = Math.ceil(stored.byteLength / storedPageBytes);
  const opened = new Uint8Array(Math.max(0, stored.byteLength - pages * tagBytes));
  for (let page = 0; page < pages; page += 1) {
    const sealed = stored.subarray(page * storedPageBytes, (page + 1) * storedPageBytes);
    opened.set(cipher.openPage(firstPage + page, sealed), page * pageBytes);
  }
  if (firstPage * pageBytes + opened.byteLength < end) throw damaged(key, "is cut off");
  return opened;
}
