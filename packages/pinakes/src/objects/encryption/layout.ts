/**
 * Layout of an encrypted object (RFC 0019): header, pages of 64 KB with a tag each, trailer with etag and length.
 *
 * Invariant: the size of the content and the stored size determine each other.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { DataKey } from "./object-keys.ts";

const magic = Buffer.from([0x50, 0x4e, 0x4b, 0x43, 1, 0, 0, 0]);
const keyIdBytes = 16;
const saltBytes = 32;
export const tagBytes = 16;
const etagBytes = 16;
const cipherName = "aes-256-gcm";
const trailerPrefix = 0xffffffff;

export const headerBytes = magic.length + keyIdBytes + saltBytes;
export const pageBytes = 65_536;
export const storedPageBytes = pageBytes + tagBytes;
export const trailerBytes = etagBytes + 8 + tagBytes;
const overheadBytes = headerBytes + trailerBytes;

export function storedBytes(content: number): number {
  return overheadBytes + content + Math.ceil(content / pageBytes) * tagBytes;
}

/** Undefined: no object of this layout has this size. */
export function contentBytes(stored: number): number | undefined {
  const paged = stored - overheadBytes;
  if (paged < 0) return undefined;
  const rest = paged % storedPageBytes;
  if (rest > 0 && rest <= tagBytes) return undefined;
  return Math.floor(paged / storedPageBytes) * pageBytes + Math.max(0, rest - tagBytes);
}

/** Where page `page` begins in the stored object. */
export function pageStart(page: number): number {
  return headerBytes + page * storedPageBytes;
}

export interface Header {
  readonly keyId: Buffer;
  readonly salt: Buffer;
}

export function newHeader(keyId: Uint8Array): Header & { readonly bytes: Buffer } {
  invariant(keyId.byteLength === keyIdBytes, "INTERNAL", "a key id has 16 bytes");
  const salt = randomBytes(saltBytes);
  return { keyId: Buffer.from(keyId), salt, bytes: Buffer.concat([magic, keyId, salt]) };
}

export function readHeader(bytes: Uint8Array, storedKey: string): Header {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < headerBytes || !view.subarray(0, magic.length).equals(magic))
    throw damaged(storedKey, "is not an encrypted object of a format that this release reads");
  return {
    keyId: Buffer.from(view.subarray(magic.length, magic.length + keyIdBytes)),
    salt: Buffer.from(view.subarray(magic.length + keyIdBytes, headerBytes)),
  };
}

export interface Trailer {
  readonly etag: string;
  readonly bytes: number;
}

/** Encrypts and decrypts the parts of one object. */
export class ObjectCipher {
  readonly #key: Buffer;
  readonly #storedKey: string;

  constructor({ key }: DataKey, { salt }: Header, storedKey: string) {
    this.#storedKey = storedKey;
    this.#key = Buffer.from(hkdfSync("sha256", key, salt, `pinakes object 1\0${storedKey}`, 32));
  }

  sealPage(page: number, content: Uint8Array): Buffer {
    return this.#seal(nonceOf(0, page), content);
  }

  openPage(page: number, stored: Uint8Array): Buffer {
    return this.#open(nonceOf(0, page), stored, `page ${page}`);
  }

  sealTrailer({ etag, bytes }: Trailer): Buffer {
    const content = Buffer.alloc(etagBytes + 8);
    content.write(etag, "hex");
    content.writeBigUInt64BE(BigInt(bytes), etagBytes);
    return this.#seal(nonceOf(trailerPrefix, 0), content);
  }

  openTrailer(stored: Uint8Array): Trailer {
    const content = this.#open(nonceOf(trailerPrefix, 0), stored, "the trailer");
    return {
      etag: content.subarray(0, etagBytes).toString("hex"),
      bytes: Number(content.readBigUInt64BE(etagBytes)),
    };
  }

  #seal(nonce: Buffer, content: Uint8Array): Buffer {
    const cipher = createCipheriv(cipherName, this.#key, nonce);
    return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  }

  #open(nonce: Buffer, stored: Uint8Array, what: string): Buffer {
    const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
    if (bytes.length < tagBytes) throw damaged(this.#storedKey, `${what} is cut off`);
    const decipher = createDecipheriv(cipherName, this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(0, bytes.length - tagBytes)), decipher.final()]);
    } catch (error) {
      throw damaged(this.#storedKey, `${what} was changed, or belongs to another object`, error);
    }
  }
}

export function damaged(storedKey: string, why: string, cause?: unknown): PinakesError {
  return new PinakesError("CORRUPT", `The object ${JSON.stringify(storedKey)}: ${why}.`, { cause });
}

function nonceOf(prefix: number, page: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(prefix, 0);
  nonce.writeBigUInt64BE(BigInt(page), 4);
  return nonce;
}
