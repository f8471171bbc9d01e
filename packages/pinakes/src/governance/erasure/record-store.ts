/** Reads and writes the records of erasures (records.ts). */
import { createHmac, randomBytes } from "node:crypto";
import { hasCode, PinakesError, show } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { ItemStore, Operation } from "../../ports/item-store.ts";
import { newSigningKey, publicKeyOf, receiptHash, signReceipt } from "../receipts/jws.ts";
import { governanceLimits } from "../limits.ts";
import { governanceTenant } from "../tenant.ts";
import type { StoredLinks } from "./links.ts";
import {
  chainItem,
  erasureItem,
  ErasureRecord,
  erasuresContainer,
  keysPartition,
  linksPrefix,
  receiptItem,
  receiptPrefix,
} from "./records.ts";
import type { Subject } from "../subjects/subject.ts";

const container = erasuresContainer.name;

export interface StoredErasure {
  readonly record: ErasureRecord;
  readonly etag: string;
}

export interface StoredReceipt {
  readonly receipt_id: string;
  readonly erasure_id: string;
  readonly sequence: number;
  readonly jws: string;
}

interface Keys {
  readonly signing: string;
  readonly secret: string;
}

export class RecordStore {
  readonly #items: ItemStore;
  readonly #scope: Scope;
  #keys: Promise<Keys> | undefined;

  constructor(items: ItemStore, system: SystemScope) {
    this.#items = items;
    this.#scope = system.forTenant(governanceTenant);
  }

  async open(): Promise<void> {
    await this.#items.openContainer(erasuresContainer);
  }

  async create(record: ErasureRecord): Promise<void> {
    await this.#items.write(this.#scope, container, [record.workspace_id], { op: "create", document: plain(record) });
  }

  async read(workspace: string, erasureId: string): Promise<StoredErasure | undefined> {
    const id = erasureItem(erasureId);
    const item = await this.#items.read(this.#scope, container, { partition: [workspace], id });
    return item === undefined ? undefined : { record: ErasureRecord.parse(item.document), etag: item.etag };
  }

  async update(
    workspace: string,
    erasureId: string,
    change: (record: ErasureRecord) => ErasureRecord,
  ): Promise<ErasureRecord> {
    for (;;) {
      const found = await this.read(workspace, erasureId);
      if (found === undefined) throw new PinakesError("NOT_FOUND", `There is no erasure ${show(erasureId)}.`);
      const record = change(found.record);
      try {
        const operation: Operation = { op: "replace", document: plain(record), ifMatch: found.etag };
        await this.#items.write(this.#scope, container, [workspace], operation);
        return record;
      } catch (error) {
        if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  async list(
    workspace: string,
    { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<{ readonly records: readonly ErasureRecord[]; readonly cursor?: string | undefined }> {
    const page = await this.#items.query(this.#scope, container, {
      equals: { workspace_id: workspace },
      range: { prefix: erasureItem("") },
      order: "desc",
      limit,
      cursor,
    });
    return { records: page.items.map(({ document }) => ErasureRecord.parse(document)), cursor: page.cursor };
  }

  /** Of all workspaces. */
  async fenced(): Promise<readonly ErasureRecord[]> {
    const records: ErasureRecord[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await this.#items.query(this.#scope, container, {
        index: "byFence",
        equals: { fenced: true },
        limit: governanceLimits.pageItemsMax,
        cursor,
      });
      records.push(...page.items.map(({ document }) => ErasureRecord.parse(document)));
      ({ cursor } = page);
    }
    return records;
  }

  /** Whether the subject was erased here before: repeating the erasure without findings is then not an error. */
  async knows(workspace: string, hmac: string): Promise<boolean> {
    const equals = { workspace_id: workspace, subject_hmac: hmac };
    const filter = { dry_run: false };
    return (
      (await this.#items.query(this.#scope, container, { index: "bySubject", equals, filter, limit: 1 })).items.length >
      0
    );
  }

  async readLinks(workspace: string, erasureId: string): Promise<readonly StoredLinks[]> {
    return (await this.#linkItems(workspace, erasureId)).map(({ document }) => document as unknown as StoredLinks);
  }

  async keepLinks(workspace: string, erasureId: string, of: string, links: StoredLinks): Promise<void> {
    const all = (["sessions", "shared", "workflows"] as const).flatMap((kind) =>
      links[kind].map((id) => ({ kind, id })),
    );
    const { linksPerItem } = governanceLimits;
    for (let at = 0; at < all.length; at += linksPerItem) {
      const some = all.slice(at, at + linksPerItem);
      const idsOf = (kind: keyof StoredLinks) => some.flatMap((one) => (one.kind === kind ? [one.id] : []));
      const document = {
        id: `${linksPrefix(erasureId)}${of}.${at}`,
        workspace_id: workspace,
        sessions: idsOf("sessions"),
        shared: idsOf("shared"),
        workflows: idsOf("workflows"),
      };
      await this.#items.write(this.#scope, container, [workspace], { op: "upsert", document });
    }
  }

  async dropLinks(workspace: string, erasureId: string): Promise<void> {
    for (const { id } of await this.#linkItems(workspace, erasureId))
      await this.#items.write(this.#scope, container, [workspace], { op: "delete", id }).catch(ignoreMissing);
  }

  async #linkItems(workspace: string, erasureId: string) {
    const found = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const range = { prefix: linksPrefix(erasureId) };
      const page = await this.#items.query(this.#scope, container, {
        equals: { workspace_id: workspace },
        range,
        cursor,
      });
      found.push(...page.items);
      ({ cursor } = page);
    }
    return found;
  }

  /** The receipt, the head of the chain and the ended erasure, in one batch. */
  async end(
    workspace: string,
    erasureId: string,
    contentOf: (record: ErasureRecord, chain: { sequence: number; previous: string | null }) => JsonObject,
    change: (record: ErasureRecord, receiptId: string) => ErasureRecord,
  ): Promise<ErasureRecord> {
    const { signing } = await this.#secrets();
    for (;;) {
      const found = await this.read(workspace, erasureId);
      invariant(found !== undefined, "INTERNAL", "an erasure that ends exists");
      const chain = await this.#items.read(this.#scope, container, { partition: [workspace], id: chainItem });
      const sequence = ((chain?.document["sequence"] as number | undefined) ?? 0) + 1;
      const previous = (chain?.document["head"] as string | undefined) ?? null;
      const content = contentOf(found.record, { sequence, previous });
      const jws = signReceipt(content, signing);
      const receipt_id = content["receipt_id"] as string;
      const head = { id: chainItem, workspace_id: workspace, sequence, head: receiptHash(jws) };
      const record = change(found.record, receipt_id);
      try {
        await this.#items.batch(
          this.#scope,
          container,
          [workspace],
          [
            chain === undefined
              ? { op: "create", document: head }
              : { op: "replace", document: head, ifMatch: chain.etag },
            {
              op: "create",
              document: {
                id: receiptItem(sequence),
                workspace_id: workspace,
                receipt_id,
                erasure_id: erasureId,
                sequence,
                jws,
              },
            },
            { op: "replace", document: plain(record), ifMatch: found.etag },
          ],
        );
        return record;
      } catch (error) {
        if (!hasCode(error, "PRECONDITION_FAILED", "CONFLICT")) throw error;
      }
    }
  }

  /** Oldest first. */
  async receipts(
    workspace: string,
    { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<{ readonly receipts: readonly StoredReceipt[]; readonly cursor?: string | undefined }> {
    const page = await this.#items.query(this.#scope, container, {
      equals: { workspace_id: workspace },
      range: { prefix: receiptPrefix },
      limit,
      cursor,
    });
    return { receipts: page.items.map(({ document }) => document as unknown as StoredReceipt), cursor: page.cursor };
  }

  async receipt(workspace: string, receiptId: string): Promise<StoredReceipt | undefined> {
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await this.receipts(workspace, { limit: governanceLimits.pageItemsMax, cursor });
      const found = page.receipts.find(({ receipt_id }) => receipt_id === receiptId);
      if (found !== undefined) return found;
      ({ cursor } = page);
    }
    return undefined;
  }

  async publicKey(): Promise<string> {
    return publicKeyOf((await this.#secrets()).signing);
  }

  /** Deterministic for a subject; without the secret it cannot be attributed. */
  async hmac({ type, id }: Pick<Subject, "type" | "id">): Promise<string> {
    const { secret } = await this.#secrets();
    return createHmac("sha256", Buffer.from(secret, "base64"))
      .update(JSON.stringify([type, id]))
      .digest("hex");
  }

  async #secrets(): Promise<Keys> {
    this.#keys ??= this.#makeKeys();
    return this.#keys;
  }

  /** Created once, by the first process that needs it. */
  async #makeKeys(): Promise<Keys> {
    const key = { partition: [keysPartition], id: "keys" };
    const stored = await this.#items.read(this.#scope, container, key);
    if (stored !== undefined) return stored.document as unknown as Keys;
    const made: Keys = { signing: newSigningKey(), secret: randomBytes(32).toString("base64") };
    try {
      const document = { id: key.id, workspace_id: keysPartition, ...made };
      await this.#items.write(this.#scope, container, key.partition, { op: "create", document });
      return made;
    } catch (error) {
      if (hasCode(error, "CONFLICT")) return this.#makeKeys();
      throw error;
    }
  }
}

function plain(record: ErasureRecord): JsonObject {
  return record as unknown as JsonObject;
}

function ignoreMissing(error: unknown): void {
  if (!hasCode(error, "NOT_FOUND")) throw error;
}
