/** Signs the tree and never forks its history: a tree is signed only if it extends the last signed one. */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { consistencyProof, provesConsistency, type TreeHead } from "./merkle.ts";
import { LogReader } from "./read-log.ts";
import { logPartition, StoredCheckpoint, type LogItems } from "./records.ts";
import { isSignedBy, readNote, signCheckpoint, signerOf, verifierOf, type Signer } from "./signed-note.ts";
import { readHead } from "./workspace-log.ts";

export interface SignedCheckpoint extends TreeHead {
  readonly origin: string;
  readonly note: string;
  readonly keys: readonly string[];
}

export interface CheckpointOptions {
  readonly items: LogItems;
  readonly storeId: string;
  /** Seeds of the keys, the current one first; created at the first call. */
  readonly seeds: () => readonly string[];
}

const keyName = "pinakes-audit";
const attemptsMax = 10;

export class Checkpoints {
  readonly #options: CheckpointOptions;
  #signers: readonly Signer[] | undefined;

  constructor(options: CheckpointOptions) {
    this.#options = options;
  }

  get keys(): readonly string[] {
    return this.#signing().map(({ verifier }) => verifier);
  }

  originOf({ tenant }: Scope): string {
    return `${keyName}/${this.#options.storeId}/${tenant}`;
  }

  /** Signs everything in the log so far. */
  async sign(scope: Scope): Promise<SignedCheckpoint> {
    const { items } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      // The old checkpoint is read first: the tree only grows, so it cannot be smaller.
      const stored = await items.read(scope, { ...logPartition, id: "checkpoint" });
      const { size, range } = await readHead(items, scope);
      const tree = { size, root: range.root() };
      const last = stored === undefined ? undefined : StoredCheckpoint.parse(stored);
      if (last !== undefined) {
        await this.#requireContinues(scope, last, tree);
        if (last.size === size && this.#isOurs(last.note)) return this.#signed(scope, tree, last.note);
      }
      const note = signCheckpoint({ origin: this.originOf(scope), ...tree }, this.#signing());
      const document = {
        id: "checkpoint" as const,
        ...logPartition,
        format: 1 as const,
        size,
        root: tree.root.toString("base64"),
        note,
      };
      try {
        await items.batch(scope, logPartition, [
          stored === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: stored._etag },
        ]);
        return this.#signed(scope, tree, note);
      } catch (error) {
        if (!hasCode(error, "CONFLICT", "PRECONDITION_FAILED") || attempt >= attemptsMax) throw error;
      }
    }
  }

  #signed(scope: Scope, tree: TreeHead, note: string): SignedCheckpoint {
    return { ...tree, origin: this.originOf(scope), note, keys: this.keys };
  }

  async #requireContinues(scope: Scope, last: { size: number; root: string }, tree: TreeHead): Promise<void> {
    const from = { size: last.size, root: Buffer.from(last.root, "base64") };
    const reader = new LogReader(this.#options.items, scope);
    const proof = from.size > tree.size ? [] : await consistencyProof(from.size, tree.size, reader.subtree);
    if (provesConsistency(from, tree, proof)) return;
    throw new PinakesError(
      "CORRUPT",
      `The audit log of "${scope.tenant}" has ${tree.size} entries, which do not extend the ${from.size} signed ones: it was truncated or edited. Nothing is signed until it is restored.`,
    );
  }

  #isOurs(note: string): boolean {
    const read = readNote(note);
    const keys = this.keys.map((key) => verifierOf(key));
    return (
      read !== undefined &&
      read.signatures.length === keys.length &&
      keys.every((key) => key !== undefined && isSignedBy(read, key))
    );
  }

  #signing(): readonly Signer[] {
    this.#signers ??= this.#options.seeds().map((seed) => signerOf(keyName, seed));
    return this.#signers;
  }
}
