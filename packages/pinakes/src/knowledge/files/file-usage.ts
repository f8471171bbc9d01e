/**
 * The number and bytes of a user's files: a record in their partition, changed in the batch that adds or removes a file, so it is always
 * exact. A pending upload counts as the file that it becomes. Partitions from before this record are counted once.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { retryOnConflict } from "../../runtime/expected-errors.ts";
import type { Quotas } from "../limits.ts";
import { pagesOf } from "../../runtime/pages.ts";
import { filePrefix, uploadPrefix, usageId, type FileRecords, type UsageRecord } from "./file-records.ts";
import { fileLimits } from "./limits.ts";

type FileOperation = Parameters<FileRecords["batch"]>[2][number];
type Amount = Pick<UsageRecord, "files" | "bytes">;

const nothing: Amount = { files: 0, bytes: 0 };

export class FileUsage {
  readonly #records: FileRecords;
  readonly #quotas: Pick<Quotas, "filesPerUserMax" | "fileBytesPerUserMax">;

  constructor(records: FileRecords, quotas: Pick<Quotas, "filesPerUserMax" | "fileBytesPerUserMax">) {
    this.#records = records;
    this.#quotas = quotas;
  }

  /** Before any byte is read: LIMIT_EXCEEDED without room for one more file of at least `bytes`. */
  async requireRoom(scope: Scope, owner: string, bytes: number): Promise<void> {
    this.#check((await this.#read(scope, owner)).amount, { files: 1, bytes });
  }

  /** Writes a file or an upload and counts it; LIMIT_EXCEEDED writes nothing. `instead`: an upload counted before, which it replaces. */
  async add(
    scope: Scope,
    owner: string,
    operation: FileOperation,
    { bytes, instead }: { readonly bytes: number; readonly instead?: boolean },
  ): Promise<void> {
    await this.#change(scope, owner, { files: 1, bytes }, operation, instead !== true);
  }

  /** Removes or ends what was counted; throws what the operation throws, and then counts nothing. */
  async subtract(scope: Scope, owner: string, operation: FileOperation, bytes: number): Promise<void> {
    await this.#change(scope, owner, { files: -1, bytes: -bytes }, operation, false);
  }

  async #change(scope: Scope, owner: string, by: Amount, operation: FileOperation, checked: boolean): Promise<void> {
    // The operation on the record of usage is the second one: another request of this user changed it at the same moment.
    const isConflict = (error: unknown) => PinakesError.isInstance(error) && error.context.batch?.index === 1;
    await retryOnConflict(
      async () => {
        const { amount, etag } = await this.#read(scope, owner);
        if (checked) this.#check(amount, by);
        const document = { id: usageId, owner, kind: "usage" as const, ...sum(amount, by) };
        const usage: FileOperation =
          etag === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: etag };
        await this.#records.batch(scope, { owner }, [operation, usage]);
      },
      { isConflict, pauseMsMax: 64 },
    );
  }

  #check(now: Amount, by: Amount): void {
    const { files, bytes } = sum(now, by);
    const { filesPerUserMax, fileBytesPerUserMax } = this.#quotas;
    if (files > filesPerUserMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `You have ${now.files} files, the maximum is ${filesPerUserMax} (filesPerUserMax). Delete some first.`,
      );
    if (bytes > fileBytesPerUserMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `Your files would have ${bytes} bytes, the maximum is ${fileBytesPerUserMax} (fileBytesPerUserMax). Delete some first.`,
      );
  }

  async #read(scope: Scope, owner: string): Promise<{ readonly amount: Amount; readonly etag?: string }> {
    const record = await this.#records.read(scope, { owner, id: usageId });
    if (record?.kind === "usage") return { amount: record, etag: record._etag };
    return { amount: await this.#count(scope, owner) };
  }

  async #count(scope: Scope, owner: string): Promise<Amount> {
    let amount = nothing;
    for (const prefix of [filePrefix, uploadPrefix]) {
      for await (const page of pagesOf((cursor) =>
        this.#records.list(scope, { owner }, { range: { prefix }, limit: fileLimits.itemsPerRead, cursor }),
      )) {
        for (const record of page.items)
          if (record.kind === "file" || (record.kind === "upload" && record.status === "pending"))
            amount = sum(amount, { files: 1, bytes: record.bytes });
      }
    }
    return amount;
  }
}

function sum(a: Amount, b: Amount): Amount {
  return { files: a.files + b.files, bytes: a.bytes + b.bytes };
}
