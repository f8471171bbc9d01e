/** Receipts as compact JWS with Ed25519 (RFC 7515, RFC 8037). Pure but for the making of keys. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import { invalid } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";

export const receiptType = "pinakes-erasure-receipt+jws";

export function newSigningKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/** SPKI in PEM. */
export function publicKeyOf(privateKey: string): string {
  return createPublicKey(createPrivateKey(privateKey)).export({ type: "spki", format: "pem" }).toString();
}

export function keyIdOf(publicKey: string): string {
  return hash("sha256", publicKeyObject(publicKey).export({ type: "spki", format: "der" }), "hex").slice(0, 16);
}

export function signReceipt(content: JsonObject, privateKey: string): string {
  const header = { alg: "EdDSA", typ: receiptType, kid: keyIdOf(publicKeyOf(privateKey)) };
  const signed = `${encode(header)}.${encode(content)}`;
  return `${signed}.${sign(null, Buffer.from(signed), createPrivateKey(privateKey)).toString("base64url")}`;
}

/** The predecessor named by the next receipt. */
export function receiptHash(jws: string): string {
  return hash("sha256", jws, "hex");
}

export type CheckedReceipt =
  | { readonly valid: true; readonly content: JsonObject }
  | { readonly valid: false; readonly reason: string };

export function checkReceipt(jws: string, publicKey: string): CheckedReceipt {
  const [header, payload, signature, ...more] = jws.split(".");
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0)
    return { valid: false, reason: "it is not a compact JWS with three parts" };
  // Another spelling of the same bytes would pass the signature, and change the hash that the next receipt names.
  if (![header, payload, signature].every((part) => Buffer.from(part, "base64url").toString("base64url") === part))
    return { valid: false, reason: "a part of it is not canonical base64url" };
  const key = publicKeyObject(publicKey);
  const read = decode(header);
  if (read?.["alg"] !== "EdDSA" || read["typ"] !== receiptType)
    return { valid: false, reason: `its header does not say EdDSA and ${receiptType}` };
  if (read["kid"] !== keyIdOf(publicKey))
    return { valid: false, reason: "it was signed with another key: it is a receipt of another instance" };
  const bytes = Buffer.from(`${header}.${payload}`);
  if (!verify(null, bytes, key, Buffer.from(signature, "base64url")))
    return { valid: false, reason: "its signature does not fit: it was changed" };
  const content = decode(payload);
  return content === undefined
    ? { valid: false, reason: "its content is not a JSON object" }
    : { valid: true, content };
}

function publicKeyObject(pem: string): KeyObject {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Reported below, like any other text that is not a key.
  }
  throw invalid("The public key must be an Ed25519 key in PEM (-----BEGIN PUBLIC KEY-----).");
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

function decode(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
