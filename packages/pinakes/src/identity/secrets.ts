/** Secrets: made from 256 random bits, kept only as SHA-256 (nobody can guess 256 bits, so no slow hash is needed), compared in constant time. */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";

const secretBytes = 32;
const keyIdBytes = 10;

/** 43 characters, the alphabet of base64url. */
export function newSecret(): string {
  return randomBytes(secretBytes).toString("base64url");
}

/** 20 hex digits: no "_", which ends it inside of a key. */
export function newKeyId(): string {
  return randomBytes(keyIdBytes).toString("hex");
}

export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** Whether `text` has this hash, in a time that tells nothing about either. */
export function hasHash(text: string, sha256Hex: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(text), "latin1"), Buffer.from(sha256Hex, "latin1"));
}
