/**
 * The staging area: files that a user sends under keys of their own choice, and ingests by these keys afterwards. A file is sent with a
 * link that works once, for an hour and for one key, and without a credential; it belongs to whoever asked for the link, under a partition
 * of their own, so that nobody reads or overwrites another's. A key that is sent again replaces the file. What is not ingested expires.
 *
 * Invariants
 * - the registry of work names a file before its bytes are written, so bytes whose record was never written are found and removed;
 * - every upload writes an object of its own, and the record names the one that counts: readers see the old or the new file, never a mixture;
 * - a record is removed before its object, and only if it is the one that was read.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Caller, Role } from "../../domain/caller.ts";
import { requireCaller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { ifMissing, tolerate } from "../../runtime/expected-errors.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { MeasuredBody } from "../documents/measured-body.ts";
import { grantsContainer } from "../records/grants-container.ts";
import { isoTime } from "../records/times.ts";
import { knowledgeTenant, type KnowledgeWork } from "../records/work-registry.ts";
import {
  objectPrefix,
  ownerOf,
  stagedId,
  stagedObject,
  stagedPrefix,
  type FileRecords,
  type StagedRecord,
} from "./file-records.ts";
import { fileLimits } from "./limits.ts";

export interface StagingGrant {
  /** Proves the right to send one file; only its hash is stored. */
  readonly token: string;
  readonly key: string;
  readonly expires_at: string;
}

export type StagedFile = Pick<StagedRecord, "key" | "bytes" | "sha256" | "created_at" | "expires_at">;

interface Granted {
  readonly kind: "staging";
  readonly tenant: string;
  readonly user: { readonly id: string; readonly groups: readonly string[]; readonly role: Role };
  readonly key: string;
}

export interface StagingDependencies {
  readonly deps: KnowledgeDependencies;
  readonly registry: KnowledgeWork;
  readonly records: FileRecords;
}

export class Staging {
  readonly #deps: KnowledgeDependencies;
  readonly #registry: KnowledgeWork;
  readonly #records: FileRecords;
  readonly #grants: Scope;

  constructor({ deps, registry, records }: StagingDependencies) {
    this.#deps = deps;
    this.#registry = registry;
    this.#records = records;
    this.#grants = deps.system.forTenant(knowledgeTenant);
  }

  async grant(caller: Caller, key: string): Promise<StagingGrant> {
    const scope = requireCaller(caller);
    checkStagedKey(key);
    await this.#checkRoom(scope, ownerOf(caller.userId), key);
    const token = randomBytes(32).toString("base64url");
    const id = hashOf(token);
    const user = { id: caller.userId, groups: [...caller.groups], role: caller.role };
    const granted: Granted = { kind: "staging", tenant: scope.tenant, user, key };
    await this.#deps.items.write(this.#grants, grantsContainer.name, [id], {
      op: "create",
      document: { id, grant: id, ttl: fileLimits.stagingSecondsMax, ...(granted as unknown as JsonObject) },
    });
    const expires = this.#deps.clock.now() + fileLimits.stagingSecondsMax * 1_000;
    return { token, key, expires_at: isoTime(expires) };
  }

  /** Single use: the link is gone before the first byte is read. `claimed` is what the sender says of it, and must agree. */
  async receive(
    token: string,
    claimed: { readonly key?: string | undefined; readonly user?: string | undefined },
    body: AsyncIterable<Uint8Array>,
  ): Promise<StagedFile> {
    const { tenant, user, key } = await this.#take(token, claimed);
    const { scope } = this.#deps.callerOf({ tenant, userId: user.id, groups: user.groups, role: user.role });
    const owner = ownerOf(user.id);
    const id = stagedId(owner, key);
    await this.#watch(scope, owner, id, this.#deps.clock.now() + fileLimits.unfinishedMsMax);
    const object = this.#deps.newId();
    const place = stagedObject({ owner, id, object });
    const measured = new MeasuredBody(body, fileLimits.stagedBytesMax, key);
    try {
      await this.#deps.objects.put(scope, place, measured);
      return await this.#keep(scope, { owner, id, key, object, created_by: user.id }, measured);
    } catch (error) {
      await tolerate(this.#deps.objects.delete(scope, [place]), "NOT_FOUND");
      throw error;
    }
  }

  /** In the order of the keys; INVALID names those that are not staged, or not any more. */
  async find(caller: Caller, keys: readonly string[]): Promise<readonly StagedFile[]> {
    const found = await this.#read(caller, keys);
    const missing = keys.filter((_, i) => found[i] === undefined);
    if (missing.length > 0)
      throw invalid(
        `keys: nothing of yours is staged under ${missing.map((key) => show(key)).join(", ")}. Ask for a link, send the file, and ingest it within a day.`,
      );
    return found as readonly StagedRecord[];
  }

  async *content(caller: Caller, key: string): AsyncGenerator<Uint8Array> {
    const [record] = await this.#read(caller, [key]);
    const body = record === undefined ? undefined : await this.#deps.objects.stream(caller.scope, stagedObject(record));
    if (body === undefined) throw invalid(`keys: nothing of yours is staged under ${show(key)} any more.`);
    yield* body;
  }

  /** A staged file that the registry of work names. */
  async sweep(scope: Scope, owner: string, id: string): Promise<{ readonly dueAt: number } | undefined> {
    const now = this.#deps.clock.now();
    const record = await this.#records.read(scope, { owner, id });
    if (record?.kind === "staged") {
      if (Date.parse(record.expires_at) > now) return { dueAt: Date.parse(record.expires_at) };
      await tolerate(
        this.#records.delete(scope, { owner, id }, { ifMatch: record._etag }),
        "NOT_FOUND",
        "PRECONDITION_FAILED",
      );
      await this.#deps.objects.delete(scope, [stagedObject(record)]);
    }
    return this.#removeLeftovers(scope, owner, id, now);
  }

  /** Objects that no record names; young ones may belong to an upload that is under way. */
  async #removeLeftovers(
    scope: Scope,
    owner: string,
    id: string,
    now: number,
  ): Promise<{ readonly dueAt: number } | undefined> {
    const { keys, next } = await this.#deps.objects.list(scope, objectPrefix(owner, id), {
      limit: fileLimits.keysPerDelete,
    });
    const record = await this.#records.read(scope, { owner, id });
    const named = record?.kind === "staged" ? stagedObject(record) : undefined;
    const old = keys.filter(
      ({ key, modifiedAt }) => key !== named && modifiedAt <= now - fileLimits.stagingSecondsMax * 1_000,
    );
    if (old.length > 0)
      await this.#deps.objects.delete(
        scope,
        old.map(({ key }) => key),
      );
    const rest = keys.length - old.length > 0 || next !== undefined || named !== undefined;
    return rest ? { dueAt: now + fileLimits.unfinishedMsMax } : undefined;
  }

  async #take(
    token: string,
    { key, user }: { readonly key?: string | undefined; readonly user?: string | undefined },
  ): Promise<Granted> {
    const id = hashOf(token);
    const item = await this.#deps.items.read(this.#grants, grantsContainer.name, { partition: [id], id });
    const granted = item?.document as unknown as Granted | undefined;
    if (item === undefined || granted?.kind !== "staging") throw gone();
    if ((key ?? granted.key) !== granted.key || (user ?? granted.user.id) !== granted.user.id)
      throw new PinakesError("FORBIDDEN", "The form fields do not match those returned with the link.");
    try {
      await this.#deps.items.write(this.#grants, grantsContainer.name, [id], {
        op: "delete",
        id,
        ifMatch: item.etag,
      });
    } catch (error) {
      if (hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw gone();
      throw error;
    }
    return granted;
  }

  async #keep(
    scope: Scope,
    fields: Pick<StagedRecord, "owner" | "id" | "key" | "object" | "created_by">,
    { bytes, sha256 }: MeasuredBody,
  ): Promise<StagedFile> {
    const now = this.#deps.clock.now();
    const expires = now + fileLimits.stagedMsMax;
    await this.#watch(scope, fields.owner, fields.id, expires);
    const before = await this.#records.read(scope, { owner: fields.owner, id: fields.id });
    const record = await this.#records.upsert(scope, {
      ...fields,
      kind: "staged",
      bytes,
      sha256,
      created_at: isoTime(now),
      expires_at: isoTime(expires),
    });
    if (before?.kind === "staged") await this.#deps.objects.delete(scope, [stagedObject(before)]);
    return record as StagedRecord;
  }

  async #read(caller: Caller, keys: readonly string[]): Promise<readonly (StagedRecord | undefined)[]> {
    const scope = requireCaller(caller);
    const owner = ownerOf(caller.userId);
    const found = await this.#records.readMany(
      scope,
      keys.map((key) => ({ owner, id: stagedId(owner, key) })),
    );
    const now = this.#deps.clock.now();
    return found.map((record) =>
      record?.kind === "staged" && Date.parse(record.expires_at) > now ? record : undefined,
    );
  }

  async #checkRoom(scope: Scope, owner: string, key: string): Promise<void> {
    const { stagedPerUserMax: max } = fileLimits;
    if ((await ifMissing(this.#records.read(scope, { owner, id: stagedId(owner, key) }))) !== undefined) return;
    const page = await this.#records.list(scope, { owner }, { range: { prefix: stagedPrefix }, limit: max });
    if (page.items.length < max) return;
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `You have ${max} staged files, the maximum. Each goes a day after it was sent; try again later.`,
    );
  }

  async #watch({ tenant }: Scope, owner: string, id: string, dueAt: number): Promise<void> {
    await this.#registry.mark(
      { kind: "file", tenant, repository_id: owner, collection_id: "", incarnation: id },
      dueAt,
    );
  }
}

/** The source of a document that was staged: its user is part of it, since keys are each user's own. */
export function stagedUri(bucket: string, userId: string, key: string): string {
  return `s3://${bucket}/${ownerOf(userId)}/${key}`;
}

function checkStagedKey(key: string): void {
  const { stagedKeyCharsMax: max } = fileLimits;
  if (key === "" || key.length > max) throw invalid(`key: must have 1–${max} characters, got ${key.length}.`);
  if (/\p{Cc}/u.test(key) || !key.isWellFormed()) throw invalid("key: must not contain control characters.");
  if (key.endsWith("/")) throw invalid(`key: must end with the name of a file, got ${show(key)}.`);
}

function gone(): PinakesError {
  return new PinakesError("NOT_FOUND", "This link was already used, has expired, or is invalid. Ask for a new one.");
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
