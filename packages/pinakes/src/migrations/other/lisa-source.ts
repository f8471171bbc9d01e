/**
 * Tables and buckets of LISA, as read by `transfer`: documents without a collection go to the default one of their repository. The whole
 * folder is one unit. The import itself compares it with the target, treating an item as equal only if its content is: the proof is a
 * second dry run that creates and refuses nothing.
 */
import { z } from "zod";
import { createHash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/caller.ts";
import { folderReader, type ImportReport, type TransferReader } from "../../knowledge/index.ts";
import { ContentHash, type Measured } from "../content-hash.ts";
import type { Differences } from "../differences.ts";
import type { MigrationDependencies } from "../dependencies.ts";
import type { Clearing, Copied, CopyStep, FoundUnit, Inventory, MigrationSource, Reading } from "../source.ts";

export const LisaSpec = z.strictObject({
  kind: z.literal("lisa"),
  /** A folder with tables/<name>.jsonl and the objects of the buckets. */
  folder: z.string().min(1),
  /** Maps embedding models to others. */
  models: z.record(z.string(), z.string()).optional(),
});
export type LisaSpec = z.infer<typeof LisaSpec>;

export class LisaSource implements MigrationSource {
  readonly #spec: LisaSpec;
  readonly #deps: MigrationDependencies;
  readonly #caller: Caller;
  readonly #reader: TransferReader;

  constructor(spec: LisaSpec, deps: MigrationDependencies, caller: Caller, folder: string) {
    this.#spec = spec;
    this.#deps = deps;
    this.#caller = caller;
    this.#reader = folderReader(folder);
  }

  /** It brings its own collections; none is registered for the whole. */
  async *units(): AsyncGenerator<FoundUnit> {
    yield { name: "folder", target: { repository: "-", collection: "-" }, keep: null, whole: true };
  }

  async measure(_: unknown, { problem }: Reading): Promise<Inventory> {
    const report = await this.#import(true);
    for (const { file, line, reason } of report.problems)
      problem({ where: `${file}${line === 0 ? "" : ` line ${line}`}`, reason });
    const count = total(report, "created") + total(report, "skipped");
    return { rows: count + total(report, "refused"), count, hash: await this.#hash() };
  }

  async measureHeld(): Promise<Measured> {
    const report = await this.#import(true);
    const missing = total(report, "created") + total(report, "refused");
    return { count: total(report, "skipped"), hash: missing === 0 ? await this.#hash() : "" };
  }

  async differences(): Promise<Differences> {
    const { problems, counts } = await this.#import(true);
    const missing = Object.entries(counts).flatMap(([kind, { created }]) =>
      created === 0 ? [] : [`${created} ${kind.replaceAll("_", " ")}`],
    );
    return { missing, extra: [], changed: problems.slice(0, 10).map(({ file, line }) => `${file} line ${line}`) };
  }

  async *copy(_: unknown, { signal, label }: CopyStep): AsyncGenerator<Copied> {
    const report = await this.#import(false, { signal, mark: label });
    if (report.problem_count > 0) {
      const [first] = report.problems;
      throw new PinakesError(
        "CONFLICT",
        `${report.problem_count} items were refused, the first: ${first?.file} line ${first?.line}: ${first?.reason}`,
      );
    }
    const copied = total(report, "created") + total(report, "skipped");
    yield { checkpoint: { copied }, copied };
  }

  /** Removes what it imported: its collections to the trash, its documents from other collections. The repositories stay. */
  async clear(_: unknown, { label, force, signal }: Clearing): Promise<void> {
    await this.#deps.intake.imports.undo(this.#caller, this.#reader, { mark: label, force, signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #import(
    dry_run: boolean,
    options: { readonly signal?: AbortSignal; readonly mark?: string } = {},
  ): Promise<ImportReport> {
    return this.#deps.knowledge.transfer.import(this.#caller, this.#reader, {
      dry_run,
      models: this.#spec.models,
      ...options,
    });
  }

  async #hash(): Promise<string> {
    const sum = new ContentHash();
    for await (const name of this.#reader.paths()) {
      const digest = createHash("sha256");
      for await (const chunk of this.#reader.open(name)) digest.update(chunk);
      sum.add(JSON.stringify([name, digest.digest("hex")]));
    }
    return sum.measured.hash;
  }
}

function total({ counts }: ImportReport, outcome: "created" | "skipped" | "refused"): number {
  return Object.values(counts).reduce((all, count) => all + count[outcome], 0);
}
