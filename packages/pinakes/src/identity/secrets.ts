/** Secrets: 256 random bits, stored only as SHA-256 (256 bits cannot be guessed, so no slow hash is needed), compared in constant time. */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";

const secretBytes = 32;
const keyIdBytes = 10;

/** 43 base64url characters. */
export function newSecret(): string {
  return randomBytes(secretBytes).toString("base64url");
}

/** 20 hex digits: contains no "_", which separates it from the secret. */
export function newKeyId(): string {
  return randomBytes(keyIdBytes).toString("hex");
}

export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** Compares the hash of `text` in constant time. */
export function hasHash(text: string, sha256Hex: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(text), "latin1"), Buffer.from(sha256Hex, "latin1"));
}
