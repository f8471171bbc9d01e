/**
 * Pseudonymous subjects of entries: each subject has a random salt, and entries contain a keyed hash (the token) and data encrypted under a
 * key from the salt. Without the record of the salt neither can be attributed to anyone.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from "node:crypto";
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import { auditLimits } from "./limits.ts";
import type { Subject, SubjectItems } from "./records.ts";

/** `workspace` keys the hashes of ids that callers choose; `anonymous` is everyone who is not signed in. */
export type SubjectKind =
  | "user"
  | "agent"
  | "session"
  | "thread"
  | "repository"
  | "collection"
  | "anonymous"
  | "workspace";

export interface SubjectRef {
  readonly kind: SubjectKind;
  readonly id: string;
}

const partition = { subjects: "subjects" } as const;
const saltBytes = 32;
const tokenBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** A subject with its salt. */
export class KnownSubject {
  readonly token: string;
  readonly #salt: Buffer;
  readonly #cipherKey: Buffer;

  constructor({ salt, token }: Pick<Subject, "salt" | "token">) {
    this.token = token;
    this.#salt = Buffer.from(salt, "base64");
    this.#cipherKey = createHmac("sha256", this.#salt).update("origin").digest();
  }

  /** For ids that do not identify a person: the same text gives the same hash in this workspace. */
  hashOf(text: string): string {
    return createHmac("sha256", this.#salt)
      .update(`id\n${text}`)
      .digest()
      .subarray(0, tokenBytes)
      .toString("base64url");
  }

  seal(text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#cipherKey, nonce);
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString("base64url");
  }

  /** Undefined for what another salt sealed. */
  open(text: string): string | undefined {
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#cipherKey, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    try {
      const clear = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([clear, decipher.final()]).toString("utf8");
    } catch {
      return undefined;
    }
  }
}

interface Cached {
  readonly until: number;
  readonly subject: Promise<KnownSubject>;
}

export class Subjects {
  readonly #records: SubjectItems;
  readonly #clock: Clock;
  readonly #cache = new Map<string, Cached>();

  constructor({ records, clock }: { readonly records: SubjectItems; readonly clock: Clock }) {
    this.#records = records;
    this.#clock = clock;
  }

  /** With a new salt, if it has none. */
  async of(scope: Scope, ref: SubjectRef): Promise<KnownSubject> {
    const name = cacheName(scope, ref);
    const cached = this.#cache.get(name);
    const now = this.#clock.now();
    if (cached !== undefined && cached.until > now) return cached.subject;
    if (this.#cache.size >= auditLimits.subjectsCachedMax) this.#cache.clear();
    const subject = this.#ensure(scope, ref);
    this.#cache.set(name, { until: now + auditLimits.subjectCachedMs, subject });
    subject.catch(() => this.#cache.delete(name));
    return subject;
  }

  /** Undefined if it has no salt (any more). */
  async find(scope: Scope, ref: SubjectRef): Promise<KnownSubject | undefined> {
    const record = await this.#records.read(scope, { ...partition, id: recordId(ref) });
    return record === undefined ? undefined : new KnownSubject(record);
  }

  /** The subject of a token; undefined for forgotten subjects. */
  async behind(scope: Scope, token: string): Promise<(SubjectRef & { readonly known: KnownSubject }) | undefined> {
    const record = await this.#records.read(scope, { ...partition, id: tokenId(token) });
    if (record === undefined) return undefined;
    return { kind: record.kind as SubjectKind, id: record.subject_id, known: new KnownSubject(record) };
  }

  /** Deletes the salt: the entries of the subject are anonymous from now on. False if there was none. */
  async forget(scope: Scope, ref: SubjectRef): Promise<boolean> {
    this.#cache.delete(cacheName(scope, ref));
    const id = recordId(ref);
    const record = await this.#records.read(scope, { ...partition, id });
    if (record === undefined) return false;
    try {
      await this.#records.batch(scope, partition, [
        { op: "delete", id },
        { op: "delete", id: tokenId(record.token) },
      ]);
      return true;
    } catch (error) {
      // Another process was faster.
      if (hasCode(error, "NOT_FOUND")) return false;
      throw error;
    } finally {
      this.#cache.delete(cacheName(scope, ref));
    }
  }

  async #ensure(scope: Scope, ref: SubjectRef): Promise<KnownSubject> {
    const known = await this.find(scope, ref);
    if (known !== undefined) return known;
    const salt = randomBytes(saltBytes);
    const token = createHmac("sha256", salt)
      .update(JSON.stringify([ref.kind, ref.id]))
      .digest()
      .subarray(0, tokenBytes)
      .toString("base64url");
    const record = { ...partition, kind: ref.kind, subject_id: ref.id, salt: salt.toString("base64"), token };
    try {
      await this.#records.batch(scope, partition, [
        { op: "create", document: { ...record, id: recordId(ref) } },
        { op: "create", document: { ...record, id: tokenId(token) } },
      ]);
      return new KnownSubject(record);
    } catch (error) {
      // Also after a lost response: the stored salt is authoritative.
      const winner = await this.find(scope, ref);
      if (winner === undefined) throw error;
      return winner;
    }
  }
}

function recordId({ kind, id }: SubjectRef): string {
  return `s-${hash("sha256", JSON.stringify([kind, id]), "base64url")}`;
}

function tokenId(token: string): string {
  return `t-${token}`;
}

function cacheName({ tenant }: Scope, { kind, id }: SubjectRef): string {
  return JSON.stringify([tenant, kind, id]);
}
