/**
 * Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint): text, a blank line, and for each key a line with its name, the first
 * bytes of its hash and an Ed25519 signature. Pure, except for the generation of keys.
 */
import { createPrivateKey, createPublicKey, hash, randomBytes, sign, verify, type KeyObject } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import type { TreeHead } from "./merkle.ts";

const ed25519 = 1;
const seedBytes = 32;
const idBytes = 4;
// The prefix of the 32 key bytes in PKCS#8 and in SPKI.
const privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex");
const publicPrefix = Buffer.from("302a300506032b6570032100", "hex");

export interface Signer {
  /** The public key in the form of C2SP: `name+hash+key`. */
  readonly verifier: string;
  sign(text: string): string;
}

export function newSeed(): string {
  return randomBytes(seedBytes).toString("base64");
}

/** `name`: without spaces and plus signs. */
export function signerOf(name: string, seed: string): Signer {
  const bytes = exactBase64(seed);
  if (bytes?.length !== seedBytes)
    throw new PinakesError(
      "INVALID",
      `An audit key must be ${seedBytes} bytes in base64, such as from \`openssl rand -base64 32\`.`,
    );
  const key = createPrivateKey({ key: Buffer.concat([privatePrefix, bytes]), format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(publicPrefix.length);
  const id = keyId(name, publicKey);
  return {
    verifier: `${name}+${id.toString("hex")}+${Buffer.concat([Buffer.from([ed25519]), publicKey]).toString("base64")}`,
    sign: (text) => `— ${name} ${Buffer.concat([id, sign(null, Buffer.from(text), key)]).toString("base64")}\n`,
  };
}

export interface Verifier {
  readonly name: string;
  readonly text: string;
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** Undefined if the text is not a public key. */
export function verifierOf(text: string): Verifier | undefined {
  const [, name, hex, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  if (name === undefined || hex === undefined || encoded === undefined) return undefined;
  const bytes = exactBase64(encoded);
  if (bytes?.length !== 1 + seedBytes || bytes[0] !== ed25519) return undefined;
  const id = keyId(name, bytes.subarray(1));
  if (id.toString("hex") !== hex) return undefined;
  const key = createPublicKey({ key: Buffer.concat([publicPrefix, bytes.subarray(1)]), format: "der", type: "spki" });
  return { name, text, id, key };
}

export interface Note {
  /** With the line end of its last line. */
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly id: Buffer; readonly signature: Buffer }[];
}

/** Undefined for what has not exactly the form of a signed note. */
export function readNote(note: string): Note | undefined {
  const at = note.indexOf("\n\n");
  if (at < 0 || !note.endsWith("\n")) return undefined;
  const signatures = note
    .slice(at + 2, -1)
    .split("\n")
    .map((line) => {
      const [, name, encoded] = /^— ([^\s+]+) (\S+)$/.exec(line) ?? [];
      const bytes = exactBase64(encoded ?? "");
      if (name === undefined || bytes === undefined || bytes.length <= idBytes) return undefined;
      return { name, id: bytes.subarray(0, idBytes), signature: bytes.subarray(idBytes) };
    });
  if (!signatures.every((one) => one !== undefined)) return undefined;
  return { text: note.slice(0, at + 1), signatures };
}

export function isSignedBy({ text, signatures }: Note, { name, id, key }: Verifier): boolean {
  return signatures.some(
    (one) => one.name === name && one.id.equals(id) && verify(null, Buffer.from(text), key, one.signature),
  );
}

export interface Checkpoint extends TreeHead {
  readonly origin: string;
}

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString("base64")}\n`;
}

export function signCheckpoint(checkpoint: Checkpoint, signers: readonly Signer[]): string {
  const text = checkpointText(checkpoint);
  return `${text}\n${signers.map((one) => one.sign(text)).join("")}`;
}

export function readCheckpoint(text: string): Checkpoint | undefined {
  const [, origin, digits, encoded] = /^([^\n]+)\n(0|[1-9]\d{0,15})\n(\S+)\n$/.exec(text) ?? [];
  const root = exactBase64(encoded ?? "");
  if (origin === undefined || root?.length !== 32) return undefined;
  return { origin, size: Number(digits), root };
}

/** Decodes canonical base64; undefined for any other encoding of the same bytes, so that every change is detected. */
export function exactBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

function keyId(name: string, publicKey: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([ed25519]), publicKey]);
  return hash("sha256", bytes, "buffer").subarray(0, idBytes);
}
