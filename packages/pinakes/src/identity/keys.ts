/**
 * API keys: `pk_<key id>_<secret>`, shown once. The id finds the record with one point read; the secret is checked against its hash.
 *
 * Revoking deletes the record. In this process the key is refused from that moment; other processes may accept it from their cache for up
 * to 5 seconds more (`cacheMsMax`).
 *
 * The keys of a workspace are counted by the index when one is created, so that expired keys are not counted. The limit is a guard, not an
 * exact quota: if indexes are eventually consistent, or several processes create keys at the same moment, it may be exceeded by a few.
 */
import type { Permission } from "../domain/caller.ts";
import { hasCode, PinakesError } from "../domain/errors.ts";
import { KeyedQueue } from "../runtime/keyed-queue.ts";
import type { Scope } from "../domain/scope.ts";
import { tolerate } from "../runtime/expected-errors.ts";
import type { Clock } from "../ports/clock.ts";
import { grant, refused, requireAdmin, requireWrite, type Authenticated } from "./authenticated.ts";
import { AccountKeys } from "./account-keys.ts";
import { checkKeyInput, workspaceNamed, type CreateKey } from "./key-input.ts";
import { identityLimits } from "./limits.ts";
import type { Notes } from "./notes.ts";
import { RecordCache } from "./record-cache.ts";
import { callerOf, type KeyRecord, type KeyRepository } from "./records.ts";
import { hasHash, newKeyId, newSecret, sha256 } from "./secrets.ts";
import type { PageOf, PageOptions, WorkspaceBook } from "./workspaces.ts";

export interface KeyInfo {
  readonly key_id: string;
  readonly name: string | null;
  readonly user_id: string;
  readonly workspace_id: string;
  readonly groups: readonly string[];
  readonly role: KeyRecord["role"];
  /** Permissions that the role does not include. */
  readonly permissions: readonly Permission[];
  readonly scopes: readonly ("read" | "write")[];
  /** Users of the workspace that the key may act for, besides its own. */
  readonly act_as: readonly string[];
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  /** Accurate to the minute. */
  readonly last_used_at: string | null;
  /** The key also signs requests of Cosmos DB clients. */
  readonly account: boolean;
}

/** `key` is returned here and never again. */
export type CreatedKey = KeyInfo & { readonly key: string; readonly account_key?: string };

export type ListKeys = PageOptions & { readonly workspace_id?: string | undefined };

export interface Keys {
  /** For admins, in their own workspace; with the root token in any workspace, which is created if it is new. */
  create(auth: Authenticated, input: CreateKey): Promise<CreatedKey>;
  /** Newest first. With the root token, of the named workspace (default: `default`). */
  list(auth: Authenticated, options?: ListKeys): Promise<PageOf<KeyInfo>>;
  revoke(auth: Authenticated, keyId: string, options?: { readonly workspace_id?: string | undefined }): Promise<void>;
}

const keyPattern = /^pk_([0-9a-f]{20})_([A-Za-z0-9_-]{43})$/;
const keyIdPattern = /^[0-9a-f]{20}$/;
/** Belongs to no key: compared if there is no record, so that both cases take the same time. */
const noHash = "0".repeat(64);
const sessionTokensMax = 1_000;

export class KeyRing implements Keys {
  readonly #records: KeyRepository;
  readonly #scope: Scope;
  readonly #clock: Clock;
  readonly #notes: Notes;
  readonly #workspaces: WorkspaceBook;
  readonly #cache: RecordCache<KeyRecord>;
  readonly #accounts: AccountKeys;
  readonly #turns = new KeyedQueue();
  /** The last key created in each workspace, so that lists of this process include it even if indexes are eventually consistent. */
  readonly #lastWrites = new Map<string, string>();

  constructor(parts: {
    records: KeyRepository;
    scope: Scope;
    clock: Clock;
    notes: Notes;
    workspaces: WorkspaceBook;
    accountSecret: Uint8Array;
  }) {
    this.#accounts = new AccountKeys({ ...parts, secret: parts.accountSecret });
    this.#records = parts.records;
    this.#scope = parts.scope;
    this.#clock = parts.clock;
    this.#notes = parts.notes;
    this.#workspaces = parts.workspaces;
    this.#cache = new RecordCache(parts.clock);
  }

  async create(auth: Authenticated, input: CreateKey): Promise<CreatedKey> {
    requireAdmin(auth);
    requireWrite(auth);
    const workspace = reachable(auth, workspaceNamed(input));
    const now = this.#clock.now();
    const checked = checkKeyInput(input, workspace, now);
    await this.#workspaces.ensure(workspace, auth.caller.userId);
    const secret = newSecret();
    const record: KeyRecord = {
      id: newKeyId(),
      secret_sha256: sha256(secret),
      workspace_id: workspace,
      ...checked,
      created_at: new Date(now).toISOString(),
      created_by: auth.caller.userId,
      last_used_at: null,
      ttl: ttlOf(checked.expires_at, now),
    };
    await this.#turns.run([workspace], () => this.#store(record));
    const made = { ...infoOf(record), key: `pk_${record.id}_${secret}` };
    if (record.account !== true) return made;
    this.#accounts.made(record.id);
    return { ...made, account_key: this.#accounts.keyOf(record).toString("base64") };
  }

  async list(auth: Authenticated, { limit, cursor, workspace_id }: ListKeys = {}): Promise<PageOf<KeyInfo>> {
    requireAdmin(auth);
    const workspace = reachable(auth, workspaceNamed({ workspace_id }));
    const query = {
      equals: { workspace_id: workspace },
      order: "desc",
      cursor,
      limit,
    } as const;
    const page = await this.#records
      .query(this.#scope, "byWorkspace", { ...query, session: this.#lastWrites.get(workspace) })
      .catch((error: unknown) => {
        // If the index is far behind, a list without the newest key is better than none.
        if (hasCode(error, "UNAVAILABLE")) return this.#records.query(this.#scope, "byWorkspace", query);
        throw error;
      });
    return { items: page.items.map(infoOf), ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
  }

  /** `workspace_id`: only if the key belongs to that workspace; omitted for the root token, which may revoke any key. */
  async revoke(
    auth: Authenticated,
    keyId: string,
    { workspace_id }: { readonly workspace_id?: string | undefined } = {},
  ): Promise<void> {
    requireAdmin(auth);
    requireWrite(auth);
    const absent = () =>
      new PinakesError(
        "NOT_FOUND",
        "Your workspace has no key with this id. GET /v1/keys lists the keys; the id is the part between pk_ and _.",
      );
    if (typeof keyId !== "string" || !keyIdPattern.test(keyId)) throw absent();
    const record = await this.#records.read(this.#scope, { id: keyId });
    if (record === undefined || (workspace_id !== undefined && record.workspace_id !== workspace_id)) throw absent();
    if (auth.via !== "root" && record.workspace_id !== auth.caller.scope.tenant) throw absent();
    try {
      await this.#records.delete(this.#scope, { id: keyId });
    } catch (error) {
      // Revoked concurrently: the key is gone, as requested.
      if (!hasCode(error, "NOT_FOUND")) throw error;
    } finally {
      this.forget(keyId);
    }
  }

  /** Called after the record was deleted. */
  forget(keyId: string): void {
    this.#cache.forget(keyId);
    this.#accounts.gone(keyId);
  }

  /** The API key whose account key matches a signature. `keyId`: checks only that one. */
  async authenticateAccount(keyId: string | undefined, fits: (key: Uint8Array) => boolean): Promise<Authenticated> {
    if (keyId !== undefined && !keyIdPattern.test(keyId)) throw refused();
    return this.#accounts.authenticate(keyId, fits, {
      read: (id) => this.#read(id),
      grant: (record) => this.#grant(record, "key"),
    });
  }

  /** Authenticates a key. Reads at most one item. */
  async authenticate(bearer: string): Promise<Authenticated> {
    const [, keyId = "", secret = ""] = keyPattern.exec(bearer) ?? [];
    if (keyId === "") throw refused();
    const record = await this.#read(keyId);
    const matches = hasHash(secret, record?.secret_sha256 ?? noHash);
    if (record === undefined || !matches) throw refused();
    return this.#grant(record, "key");
  }

  /** For a session created from a key: the current identity of the key. */
  async authenticateSession(keyId: string, session: { expiresAt: number; csrfToken: string }): Promise<Authenticated> {
    const record = await this.#read(keyId);
    if (record === undefined) throw refused();
    const auth = this.#grant(record, "session");
    return grant({
      ...auth,
      expiresAt: Math.min(session.expiresAt, auth.expiresAt ?? Infinity),
      csrfToken: session.csrfToken,
    });
  }

  #grant(record: KeyRecord, via: "key" | "session"): Authenticated {
    const now = this.#clock.now();
    const expiresAt = record.expires_at === null ? undefined : Date.parse(record.expires_at);
    if (expiresAt !== undefined && expiresAt <= now) throw refused();
    this.#touch(record, now);
    return grant({
      caller: callerOf(record),
      via,
      keyId: record.id,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(record.read_only ? { readOnly: true } : {}),
      ...(record.act_as === undefined || record.act_as.length === 0 ? {} : { actAs: record.act_as }),
    });
  }

  async #read(keyId: string): Promise<KeyRecord | undefined> {
    return this.#cache.get(keyId, () => this.#records.read(this.#scope, { id: keyId }));
  }

  async #store(record: KeyRecord): Promise<void> {
    const { workspace_id } = record;
    const count = await this.#records.count(this.#scope, "byWorkspace", { equals: { workspace_id } });
    if (count >= identityLimits.keysPerWorkspaceMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The workspace has ${count} keys, at most ${identityLimits.keysPerWorkspaceMax} are allowed. Revoke unused ones (see last_used_at).`,
      );
    const session = this.#records.sessionOf(await this.#records.create(this.#scope, record));
    if (this.#lastWrites.size >= sessionTokensMax) this.#lastWrites.clear();
    if (session !== undefined) this.#lastWrites.set(workspace_id, session);
  }

  /** Records the use of a key, at most once a minute, without blocking the call. */
  #touch(record: KeyRecord, now: number): void {
    const last = record.last_used_at === null ? -Infinity : Date.parse(record.last_used_at);
    if (now - last < identityLimits.lastUsedEveryMs) return;
    const used = { last_used_at: new Date(now).toISOString(), ttl: ttlOf(record.expires_at, now) };
    const taken = this.#notes.write(`the use of key ${record.id}`, async () => {
      // Revoked meanwhile, or recorded by another process: nothing to do.
      await tolerate(
        this.#records.update(this.#scope, { id: record.id }, (stored) => ({ ...stored, ...used }), {
          attempts: 1,
        }),
        "NOT_FOUND",
        "PRECONDITION_FAILED",
      );
    });
    if (taken) this.#cache.amend(record.id, { ...record, ...used });
  }
}

/** The workspace of a call: the caller's own, or with the root token any. */
function reachable(auth: Authenticated, named: string | undefined): string {
  const own = auth.caller.scope.tenant;
  if (named === undefined || named === own || auth.via === "root") return named ?? own;
  throw new PinakesError(
    "FORBIDDEN",
    "You may manage the keys of your own workspace only. Omit workspace_id, or use the root token.",
  );
}

/** The ttl counts from the write, so every write sets it again; -1 means never. */
function ttlOf(expiresAt: string | null, now: number): number {
  return expiresAt === null
    ? -1
    : Math.max(1, Math.ceil((Date.parse(expiresAt) + identityLimits.expiredKeyKeptMs - now) / 1000));
}

function infoOf(record: KeyRecord): KeyInfo {
  const {
    id,
    name,
    user_id,
    workspace_id,
    groups,
    role,
    permissions = [],
    read_only,
    act_as = [],
    created_at,
    created_by,
    expires_at,
    last_used_at,
  } = record;
  const scopes = read_only ? (["read"] as const) : (["read", "write"] as const);
  return {
    key_id: id,
    name,
    user_id,
    workspace_id,
    groups,
    role,
    permissions,
    scopes,
    act_as,
    created_at,
    created_by,
    expires_at,
    last_used_at,
    account: record.account === true,
  };
}
