/**
 * Grants: a link that uploads one file, once, or downloads one for a while, without a key. Only the hash of the 256-bit token is stored,
 * under the system's own tenant, because the bearer has none yet. A grant acts for the user who created it, with the rights of that user
 * when it is used.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item } from "../../ports/item-store.ts";
import { knowledgeTenant } from "../records/work-registry.ts";
import type { AccessInput } from "../access/document-access.ts";
import type { Collections } from "../collections/collections.ts";
import { openOrCreate } from "../collections/open-or-create.ts";
import type { Repositories } from "../collections/repositories.ts";
import { grantsContainer } from "../records/grants-container.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { documentView, type DocumentView } from "../views.ts";
import type { Content, Documents } from "./documents.ts";
import { checkUpload } from "./check-upload.ts";
import type { Uploads } from "./upload.ts";
import { noteWho } from "../../runtime/call-notes.ts";

export interface Grant {
  readonly url: string;
  readonly expires_at: string;
  readonly expires_in_seconds: number;
}

export interface UploadGrant extends AccessInput {
  readonly name: string;
  readonly metadata?: unknown;
  readonly chunking_strategy?: unknown;
  readonly replace?: boolean | undefined;
  readonly expires_in_seconds?: number | undefined;
}

const secondsDefault = 300;
const secondsMax = 900;

interface GrantRecord {
  readonly kind: "upload" | "download";
  readonly tenant: string;
  readonly user: { readonly id: string; readonly groups: readonly string[]; readonly role: Caller["role"] };
  readonly repository_id: string;
  readonly collection_id: string;
  readonly input: JsonObject;
}

export class Grants {
  readonly #deps: KnowledgeDependencies;
  readonly #collections: Collections;
  readonly #repositories: Repositories;
  readonly #uploads: Uploads;
  readonly #documents: Documents;
  readonly #scope: Scope;

  constructor(
    deps: KnowledgeDependencies,
    services: { collections: Collections; repositories: Repositories; uploads: Uploads; documents: Documents },
  ) {
    this.#deps = deps;
    this.#collections = services.collections;
    this.#repositories = services.repositories;
    this.#uploads = services.uploads;
    this.#documents = services.documents;
    this.#scope = deps.system.forTenant(knowledgeTenant);
  }

  async upload(caller: Caller, repositoryId: string, collectionId: string, input: UploadGrant): Promise<Grant> {
    const services = {
      deps: this.#deps,
      collections: this.#collections,
      repositories: this.#repositories,
    };
    const opened = await openOrCreate(services, caller, repositoryId, collectionId, input);
    const { expires_in_seconds, ...rest } = input;
    checkUpload(opened, rest);
    return this.#make(caller, "upload", opened.collection, rest as unknown as JsonObject, expires_in_seconds);
  }

  /** Single use: the grant is deleted before the first byte is read. */
  async useUpload(token: string, body: AsyncIterable<Uint8Array>): Promise<DocumentView> {
    const { item, record } = await this.#find(token, "upload");
    try {
      await this.#deps.items.write(this.#scope, grantsContainer.name, [item.id], {
        op: "delete",
        id: item.id,
        ifMatch: item.etag,
      });
    } catch (error) {
      if (hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw gone();
      throw error;
    }
    const caller = this.#callerOf(record);
    const opened = await this.#collections.open(caller, record.repository_id, record.collection_id, {
      needed: "WRITE",
      action: "Adding documents",
    });
    return documentView(
      await this.#uploads.upload(caller, opened, { ...(record.input as unknown as UploadGrant), body }),
    );
  }

  async download(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    options: { readonly expires_in_seconds?: number | undefined; readonly version?: number | undefined } = {},
  ): Promise<Grant> {
    const opened = await this.#collections.open(caller, repositoryId, collectionId);
    const { record } = await this.#documents.get(caller, opened, documentId);
    const version = options.version ?? record.versions[0]?.version;
    if (!record.versions.some((entry) => entry.version === version))
      throw new PinakesError(
        "NOT_FOUND",
        `There is no content of document "${documentId}"${options.version === undefined ? " yet" : ` of version ${options.version}`}.`,
      );
    return this.#make(
      caller,
      "download",
      opened.collection,
      { document_id: documentId, version },
      options.expires_in_seconds,
    );
  }

  async useDownload(token: string): Promise<Content> {
    const { record } = await this.#find(token, "download");
    const caller = this.#callerOf(record);
    const opened = await this.#collections.open(caller, record.repository_id, record.collection_id);
    const { document_id, version } = record.input as { document_id: string; version: number };
    return this.#documents.content(caller, opened, document_id, version);
  }

  async #make(
    caller: Caller,
    kind: GrantRecord["kind"],
    { repository_id, collection_id }: { repository_id: string; collection_id: string },
    input: JsonObject,
    seconds = secondsDefault,
  ): Promise<Grant> {
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > secondsMax)
      throw invalid(`expires_in_seconds: must be a whole number from 1 to ${secondsMax}, got ${show(seconds)}.`);
    const token = randomBytes(32).toString("base64url");
    const id = hashOf(token);
    const user = { id: caller.userId, groups: caller.groups, role: caller.role };
    const record: GrantRecord = { kind, tenant: caller.scope.tenant, user, repository_id, collection_id, input };
    await this.#deps.items.write(this.#scope, grantsContainer.name, [id], {
      op: "create",
      document: { id, grant: id, ttl: seconds, ...(record as unknown as JsonObject) },
    });
    const expires_at = isoTime(this.#deps.clock.now() + seconds * 1000);
    return { url: `/v1/${kind}s/${token}`, expires_at, expires_in_seconds: seconds };
  }

  async #find(token: string, kind: GrantRecord["kind"]): Promise<{ item: Item; record: GrantRecord }> {
    const id = hashOf(token);
    const item = await this.#deps.items.read(this.#scope, grantsContainer.name, { partition: [id], id });
    const record = item?.document as unknown as GrantRecord | undefined;
    if (item === undefined || record?.kind !== kind) throw gone();
    return { item, record };
  }

  #callerOf({ tenant, user }: GrantRecord): Caller {
    noteWho({ tenant, userId: user.id, role: user.role });
    return this.#deps.callerOf({ tenant, userId: user.id, groups: user.groups, role: user.role });
  }
}

function gone(): PinakesError {
  return new PinakesError("NOT_FOUND", "This link was already used, has expired, or is invalid. Create a new one.");
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
