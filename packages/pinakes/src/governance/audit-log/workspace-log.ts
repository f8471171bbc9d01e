/**
 * The log of one workspace: group commit of leaves. Leaves that arrive during a commit wait and share the next one, so that the cost per
 * entry falls as the rate grows. Indexes come from the head, which a commit replaces under its etag.
 *
 * Invariants: the head's frontier has the leaves of all blocks up to its size; a commit is one batch, so no crash separates them.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { auditLimits } from "./limits.ts";
import { CompactRange, leafHash } from "./merkle.ts";
import { Block, Head, idOf, logPartition, type LogItems } from "./records.ts";

interface Waiting {
  readonly leaf: string;
  readonly done: PromiseWithResolvers<number>;
}

/** The head as read or written. */
export interface KnownHead {
  readonly size: number;
  readonly range: CompactRange;
  /** Absent before the first commit. */
  readonly etag: string | undefined;
}

export async function readHead(items: LogItems, scope: Scope): Promise<KnownHead> {
  const item = await items.read(scope, { ...logPartition, id: "head" });
  if (item === undefined) return { size: 0, range: new CompactRange(), etag: undefined };
  const { size, frontier } = Head.parse(item);
  const range = CompactRange.of(
    0,
    size,
    frontier.map((one) => Buffer.from(one, "base64")),
  );
  return { size, range, etag: item._etag };
}

export class WorkspaceLog {
  readonly scope: Scope;
  readonly #items: LogItems;
  readonly #onCommit: (size: number) => void;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #head: KnownHead | undefined;

  constructor({ items, scope, onCommit }: { items: LogItems; scope: Scope; onCommit: (size: number) => void }) {
    this.#items = items;
    this.scope = scope;
    this.#onCommit = onCommit;
  }

  get idle(): boolean {
    return this.#running === undefined;
  }

  /** The index of the leaf, once it is durable. */
  async append(leaf: string): Promise<number> {
    if (this.#waiting.length >= auditLimits.waitingMax)
      throw new PinakesError("UNAVAILABLE", "Too many entries wait for the audit log. Try again later.");
    const done = Promise.withResolvers<number>();
    this.#waiting.push({ leaf, done });
    this.#running ??= this.#drain();
    return done.promise;
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  async #drain(): Promise<void> {
    // Other leaves that arrive in this turn of the event loop are included.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, auditLimits.groupLeavesMax);
      try {
        const first = await this.#commit(group.map(({ leaf }) => leaf));
        group.forEach(({ done }, i) => done.resolve(first + i));
      } catch (error) {
        this.#head = undefined;
        for (const { done } of group) done.reject(error);
      }
    }
    this.#running = undefined;
  }

  /** The index of the first of the leaves. */
  async #commit(leaves: readonly string[]): Promise<number> {
    const hashes = leaves.map((leaf) => leafHash(Buffer.from(leaf)));
    const writer = randomBytes(9).toString("base64url");
    for (let attempt = 1; ; attempt += 1) {
      const known = this.#head ?? (await readHead(this.#items, this.scope));
      try {
        this.#head = await this.#write(known, leaves, hashes, writer);
        this.#onCommit(this.#head.size);
        return known.size;
      } catch (error) {
        this.#head = undefined;
        const outrun = hasCode(error, "CONFLICT", "PRECONDITION_FAILED");
        // Whatever the error says: if the block exists, the commit succeeded.
        if (!outrun && (await this.#isOurs(known.size, writer))) return known.size;
        if (!outrun || attempt >= auditLimits.commitAttemptsMax) throw error;
        await sleep(Math.random() * Math.min(100, 2 ** attempt));
      }
    }
  }

  async #write(
    { size, range, etag }: KnownHead,
    leaves: readonly string[],
    hashes: readonly Buffer[],
    writer: string,
  ): Promise<KnownHead> {
    const next = CompactRange.of(0, size, range.hashes);
    for (const one of hashes) next.push(0, one);
    const head: Head = {
      id: "head",
      ...logPartition,
      format: 1,
      size: next.end,
      frontier: next.hashes.map((one) => one.toString("base64")),
    };
    const { results } = await this.#items.batch(this.scope, logPartition, [
      etag === undefined ? { op: "create", document: head } : { op: "replace", document: head, ifMatch: etag },
      ...blocksOf(size, leaves).map(
        ([first, part]) =>
          ({
            op: "create",
            document: { id: idOf.block(first), ...logPartition, first, writer, leaves: part },
          }) as const,
      ),
    ]);
    return { size: next.end, range: next, etag: results[0]?.etag };
  }

  async #isOurs(first: number, writer: string): Promise<boolean> {
    const block = await this.#items.read(this.scope, { ...logPartition, id: idOf.block(first) });
    return block !== undefined && Block.parse(block).writer === writer;
  }
}

/** A block ends where its bundle does. */
function blocksOf(size: number, leaves: readonly string[]): readonly (readonly [number, string[]])[] {
  const inFirst = auditLimits.bundleLeaves - (size % auditLimits.bundleLeaves);
  const parts = [[size, leaves.slice(0, inFirst)] as const, [size + inFirst, leaves.slice(inFirst)] as const];
  return parts.filter(([, part]) => part.length > 0);
}
