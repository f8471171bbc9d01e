/**
 * Account keys: what Cosmos DB's clients sign their requests with (HMAC-SHA256). Verifying a signature needs the key itself, so a hash of
 * it is not enough: the key is derived from a secret of the store and the record of an API key, and is never stored. It expires with that
 * API key, has its rights, and is as safe as the store itself.
 *
 * A signed request does not say who signed it. The account keys of the store are tried, most recently used first, unless its address names
 * one (`/cosmos/{key id}`).
 */
import { createHmac, randomBytes } from "node:crypto";
import { hasCode } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { refused, type Authenticated } from "./authenticated.ts";
import { identityLimits } from "./limits.ts";
import { workspaceContainer, type KeyRecord, type KeyRepository } from "./records.ts";

export interface AccountKeysParts {
  readonly records: KeyRepository;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly secret: Uint8Array;
}

export class AccountKeys {
  readonly #records: KeyRepository;
  readonly #scope: Scope;
  readonly #clock: Clock;
  readonly #secret: Uint8Array;
  /** Ids of account keys, in order of last use; the most recent is last. */
  #ids = new Set<string>();
  #listedAt = -Infinity;
  readonly #derived = new Map<string, Buffer>();

  constructor({ records, scope, clock, secret }: AccountKeysParts) {
    this.#records = records;
    this.#scope = scope;
    this.#clock = clock;
    this.#secret = secret;
  }

  /** 64 bytes, like the keys of Cosmos DB. */
  keyOf({ id, secret_sha256 }: Pick<KeyRecord, "id" | "secret_sha256">): Buffer {
    const name = `${id}\n${secret_sha256}`;
    let key = this.#derived.get(name);
    if (key === undefined) {
      if (this.#derived.size >= identityLimits.accountKeysTriedMax) this.#derived.clear();
      key = createHmac("sha512", this.#secret).update(`cosmos account key\n${name}`).digest();
      this.#derived.set(name, key);
    }
    return key;
  }

  /** Known at once in this process. */
  made(id: string): void {
    this.#ids.add(id);
  }

  gone(id: string): void {
    this.#ids.delete(id);
  }

  /** The API key whose account key matches the signature; `read` and `grant` are those of API keys. */
  async authenticate(
    keyId: string | undefined,
    fits: (key: Uint8Array) => boolean,
    {
      read,
      grant,
    }: { read: (id: string) => Promise<KeyRecord | undefined>; grant: (record: KeyRecord) => Authenticated },
  ): Promise<Authenticated> {
    const tried = new Set<string>();
    const attempt = async (id: string): Promise<Authenticated | undefined> => {
      tried.add(id);
      const record = await read(id);
      if (record?.account !== true || !fits(this.keyOf(record))) return undefined;
      this.#ids.delete(id);
      this.#ids.add(id);
      return grant(record);
    };
    const candidates = keyId === undefined ? [...this.#ids].toReversed() : [keyId];
    for (const id of candidates) {
      const auth = await attempt(id);
      if (auth !== undefined) return auth;
    }
    if (keyId !== undefined) throw refused();
    await this.#list();
    for (const id of this.#ids) {
      const auth = tried.has(id) ? undefined : await attempt(id);
      if (auth !== undefined) return auth;
    }
    throw refused();
  }

  async #list(): Promise<void> {
    const now = this.#clock.now();
    if (now >= this.#listedAt && now - this.#listedAt < identityLimits.accountKeysListedEveryMs) return;
    this.#listedAt = now;
    const found: string[] = [];
    for (let cursor: string | undefined; found.length < identityLimits.accountKeysTriedMax;) {
      const page = await this.#records.query(this.#scope, "byAccount", {
        equals: { account: true },
        order: "desc",
        cursor,
      });
      found.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    const known = new Set(found);
    this.#ids = new Set([
      ...found.filter((id) => !this.#ids.has(id)).toReversed(),
      ...[...this.#ids].filter((id) => known.has(id)),
    ]);
  }
}

const secretBytes = 32;

/** Created once per store, by the first process that needs it. */
export async function accountSecret(items: ItemStore, scope: Scope): Promise<Uint8Array> {
  const { name } = workspaceContainer.definition;
  const key = { partition: ["secret"], id: "account-keys" };
  const stored = await items.read(scope, name, key);
  if (stored !== undefined) return Buffer.from(stored.document["secret"] as string, "base64");
  const made = randomBytes(secretBytes);
  try {
    const document = { id: key.id, kind: "secret", secret: made.toString("base64") };
    await items.write(scope, name, key.partition, { op: "create", document });
    return made;
  } catch (error) {
    if (hasCode(error, "CONFLICT")) return accountSecret(items, scope);
    throw error;
  }
}
