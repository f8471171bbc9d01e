/**
 * One attempt of an erasure in one workspace (RFC 0012). It can stop anywhere: the next attempt starts from the first step and finds what
 * is left. Data that it could not find again is recorded before it is removed.
 */
import type { Scope } from "../../domain/scope.ts";
import type { KnowledgeErasure } from "../../knowledge/index.ts";
import type { StateErasure } from "../../state/index.ts";
import { inParallel } from "../../runtime/in-parallel.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import type { ItemKey, Partition } from "../../ports/item-store.ts";
import { governanceLimits } from "../limits.ts";
import { emptyCounts } from "./counts.ts";
import { OwnRows } from "./own-rows.ts";
import type { StoreCounts, WorkOfWorkspace } from "./records.ts";
import { findLinks, hitsOf, placesOf, type Hit, type ScanContext, type StorePlace } from "./scan.ts";

export interface RunDependencies {
  readonly knowledge: KnowledgeErasure;
  readonly state: StateErasure;
  /** Records what a later attempt could not find again, before this one continues. */
  readonly keep: (change: (work: WorkOfWorkspace) => WorkOfWorkspace) => Promise<WorkOfWorkspace>;
  readonly keepLinks: () => Promise<void>;
  /** The keys that encrypt the objects of a workspace. */
  readonly destroyKeys: (workspace: string) => Promise<void>;
  /** Credentials that were deleted are forgotten by the caches of this process. */
  readonly forgetCredentials: (ids: readonly string[]) => void;
}

type Counted = "deleted" | "redacted" | "anonymised";

const passesMax = 5;
const atOnce = 8;
const rowsOfADay = 5_000;
const objectsStore = "objects";
const vectorsStore = "vector files";
const triplesStore = "triple spaces";

export class ErasureRun {
  readonly #context: ScanContext;
  readonly #deps: RunDependencies;
  readonly #scope: Scope;
  readonly #ownRows: OwnRows;
  readonly counts = new Map<string, StoreCounts>();
  readonly holds = new Set<string>();

  constructor(context: ScanContext, deps: RunDependencies) {
    this.#context = context;
    this.#deps = deps;
    this.#scope = context.system.forTenant(context.workspace);
    this.#ownRows = new OwnRows(context, deps.knowledge);
  }

  /** Finds links to rows that do not name the subject themselves. */
  async prepare(): Promise<void> {
    await findLinks(this.#context, await placesOf(this.#context));
  }

  /** Counts what names the subject; nothing changes. */
  async scan(): Promise<void> {
    const places = await placesOf(this.#context);
    await findLinks(this.#context, places);
    for (const place of places) {
      for await (const { hits, held, holds } of hitsOf(this.#context, place)) {
        this.#count(place.container, "found", hits.length + held);
        this.#hold(place.container, held, holds);
      }
    }
    for await (const { rows, held, holds } of this.#ownRows.found()) {
      this.#count(vectorsStore, "found", rows + held);
      this.#hold(vectorsStore, held, holds);
    }
    const objects = await this.#countObjects();
    if (objects > 0) this.#count(objectsStore, "found", objects);
    if (this.#isWorkspace) this.#count(triplesStore, "found", await this.#deps.knowledge.countTriples(this.#scope));
  }

  async execute(): Promise<void> {
    const { signal } = this.#context;
    await this.#finishPending();
    await this.#deps.keepLinks();
    for (let pass = 0; pass < passesMax; pass += 1) {
      let touched = 0;
      for (const place of await placesOf(this.#context)) touched += await this.#erase(place);
      if (touched === 0) break;
    }
    // Before rows are removed: a later attempt would not find their files.
    for await (const { key, rows } of this.#ownRows.found()) if (rows > 0) await this.#keepIncarnation(key);
    const work = await this.#deps.keep((current) => ({ ...current, pending: null }));
    for (const key of work.incarnations) {
      const { vectors } = await this.#deps.knowledge.settle(this.#scope, key, this.#ownRows.oursIn(key), signal);
      this.#count(vectorsStore, "deleted", vectors);
    }
    await this.#deps.state.dropBlocks(this.#scope, "metrics", work.metric_days);
    await this.#deps.state.dropBlocks(this.#scope, "tools", work.tool_days);
    if (this.#subject.type !== "documents" && !this.#isWorkspace)
      this.#count(vectorsStore, "deleted", await this.#deps.state.cleanMemoryIndexes(this.#scope, signal));
    await this.#removeObjects();
  }

  /** Amount of remaining data that no hold protects; only 0 is a success. */
  async verify(): Promise<number> {
    for (const [store, counts] of this.counts) this.counts.set(store, { ...counts, held: 0, remaining: 0 });
    this.holds.clear();
    for (const place of await placesOf(this.#context)) {
      for await (const { hits, held, holds } of hitsOf(this.#context, place)) {
        this.#count(place.container, "remaining", hits.length);
        this.#hold(place.container, held, holds);
      }
    }
    const work = await this.#deps.keep((current) => current);
    const { knowledge, state } = this.#deps;
    let vectors = 0;
    if (!this.#isWorkspace)
      for (const key of work.incarnations)
        vectors += await knowledge.remains(this.#scope, key, this.#ownRows.oursIn(key));
    for await (const { key, rows, held, holds } of this.#ownRows.found()) {
      if (!work.incarnations.some(({ incarnation }) => incarnation === key.incarnation)) vectors += rows;
      this.#hold(vectorsStore, held, holds);
    }
    if (!this.#isWorkspace && this.#subject.type !== "documents")
      vectors += await state.countMemoryIndexes(this.#scope);
    this.#count(vectorsStore, "remaining", vectors);
    this.#count(objectsStore, "remaining", await this.#countObjects());
    if (this.#isWorkspace) this.#count(triplesStore, "remaining", await knowledge.countTriples(this.#scope));
    return [...this.counts.values()].reduce((sum, { remaining }) => sum + (remaining ?? 0), 0);
  }

  get #subject() {
    return this.#context.naming.subject;
  }

  /** Unless a hold keeps all of it. */
  get #isWorkspace(): boolean {
    return this.#subject.type === "workspace" && this.#context.holds.length === 0;
  }

  /** Whether rows that callers embedded themselves name the subject. */
  async namesOwnRows(): Promise<boolean> {
    for await (const _ of this.#ownRows.found()) return true;
    return false;
  }

  /** Returns how many rows it did something with. */
  async #erase(place: StorePlace): Promise<number> {
    const partitions = new Map<string, WalkedItem>();
    const day = new DayRows();
    let touched = 0;
    for await (const { hits } of hitsOf(this.#context, place)) {
      touched += await this.#deleteAll(place, rowsWith(hits, "delete"));
      touched += await this.#redactAll(place, hits);
      for (const row of [...rowsWith(hits, "partition"), ...rowsWith(hits, "workflow")])
        partitions.set(JSON.stringify(row.partition), row);
      for (const row of rowsWith(hits, "document")) touched += await this.#document(row);
      for (const row of rowsWith(hits, "collection")) touched += await this.#collection(row);
      touched += await this.#invocations(place, rowsWith(hits, "invocation"));
      for (const row of rowsWith(hits, "metric")) {
        const full = day.add(row);
        if (full !== undefined) touched += await this.#anonymise(full);
      }
    }
    const rest = day.take();
    if (rest !== undefined) touched += await this.#anonymise(rest);
    if (partitions.size > 0) touched += await this.#erasePartitions(place, partitions);
    return touched;
  }

  async #deleteAll(place: StorePlace, rows: readonly WalkedItem[]): Promise<number> {
    for (let at = 0; at < rows.length; at += governanceLimits.rowsPerStep) {
      const keys = rows.slice(at, at + governanceLimits.rowsPerStep).map(({ partition, id }) => ({ partition, id }));
      await this.#removeRows(place, keys);
    }
    if (place.container === "identity-keys" || place.container === "identity-sessions")
      this.#deps.forgetCredentials(rows.map(({ id }) => id));
    return rows.length;
  }

  /** The keys are recorded first: after a crash, entries of the feed remain, which the next attempt removes. */
  async #removeRows({ container, scope }: StorePlace, keys: readonly ItemKey[]): Promise<void> {
    await this.#keepPending(scope.tenant, container, keys);
    const { erasure } = this.#context.items;
    this.#count(container, "deleted", await erasure.remove(scope, container, keys));
    await erasure.forget(scope, container, keys);
  }

  async #keepPending(tenant: string, container: string, keys: readonly ItemKey[]): Promise<void> {
    const pending = { tenant, container, keys: keys.map(({ partition, id }) => ({ partition: [...partition], id })) };
    await this.#deps.keep((work) => ({ ...work, pending }));
  }

  async #finishPending(): Promise<void> {
    const { pending } = await this.#deps.keep((work) => work);
    if (pending === null) return;
    const scope = this.#context.system.forTenant(pending.tenant);
    await this.#context.items.erasure.forget(scope, pending.container, pending.keys as unknown as readonly ItemKey[]);
  }

  async #redactAll({ container, scope }: StorePlace, hits: readonly Hit[]): Promise<number> {
    let redacted = 0;
    for (const { row, verdict } of hits) {
      if (verdict.do !== "redact") continue;
      const operation = { op: "replace", document: verdict.document, ifMatch: row.etag } as const;
      const written = succeeds(
        this.#context.items.write(scope, container, row.partition, operation),
        "PRECONDITION_FAILED",
        "NOT_FOUND",
      );
      // An expired row cannot be written any more: it goes.
      if (row.expired) await this.#removeRows({ container, scope } as StorePlace, [row]);
      else if (!(await written)) continue;
      redacted += 1;
    }
    if (redacted > 0) this.#count(container, "redacted", redacted);
    return redacted;
  }

  async #document(row: WalkedItem): Promise<number> {
    const { repository_id, collection_id, incarnation, document_id, source_key } = row.document as Record<
      string,
      string
    >;
    if (repository_id === undefined || collection_id === undefined || incarnation === undefined) return 0;
    const key = { repository_id, collection_id, incarnation };
    await this.#keepIncarnation(key);
    const { partition, id } = row;
    const keys = [
      { partition, id },
      { partition, id: `source:${source_key}` },
    ];
    await this.#keepPending(this.#scope.tenant, "documents", keys);
    const removed = await this.#deps.knowledge.removeDocument(this.#scope, key, document_id as string);
    await this.#context.items.erasure.forget(this.#scope, "documents", keys);
    if (removed) this.#count("documents", "deleted", 1);
    return removed ? 1 : 0;
  }

  async #keepIncarnation(key: WorkOfWorkspace["incarnations"][number]): Promise<void> {
    await this.#deps.keep((work) =>
      work.incarnations.some((one) => one.incarnation === key.incarnation)
        ? work
        : { ...work, incarnations: [...work.incarnations, key] },
    );
  }

  async #collection(row: WalkedItem): Promise<number> {
    const { repository_id, collection_id, incarnation } = row.document as Record<string, string>;
    if (repository_id === undefined || collection_id === undefined || incarnation === undefined) return 0;
    const key = { repository_id, collection_id, incarnation };
    await this.#deps.knowledge.purgeCollection(this.#scope, key, "erasure");
    await this.#context.items.erasure.forget(this.#scope, "collections", [row]);
    this.#count("collections", "deleted", 1);
    return 1;
  }

  async #invocations(place: StorePlace, rows: readonly WalkedItem[]): Promise<number> {
    for (let at = 0; at < rows.length; at += governanceLimits.rowsPerStep) {
      const some = rows.slice(at, at + governanceLimits.rowsPerStep);
      const days = new Set(some.map(({ partition }) => firstText(partition)));
      await this.#deps.keep((work) => ({ ...work, tool_days: union(work.tool_days, days) }));
      await this.#keepPending(place.scope.tenant, place.container, some);
      const removed = await inParallel(some, atOnce, async (row) =>
        row.expired
          ? (await this.#context.items.erasure.remove(place.scope, place.container, [row])) > 0
          : this.#deps.state.removeInvocation(place.scope, firstText(row.partition), row),
      );
      await this.#context.items.erasure.forget(place.scope, place.container, some);
      this.#count(place.container, "deleted", removed.filter(Boolean).length);
    }
    return rows.length;
  }

  async #anonymise({ date, rows }: RowsOfDay): Promise<number> {
    await this.#deps.keep((work) => ({ ...work, metric_days: union(work.metric_days, [date]) }));
    const agent = this.#subject.type === "agent" ? "erased" : undefined;
    const replaced = await this.#deps.state.anonymise(this.#scope, date, rows, agent);
    this.#count("agent-metrics", "anonymised", replaced);
    return rows.length;
  }

  /** Everything of these partitions: another walk, since a partition is not known whole by one of its rows. */
  async #erasePartitions(place: StorePlace, partitions: ReadonlyMap<string, WalkedItem>): Promise<number> {
    const { items } = this.#context;
    const workflows = place.container === "workflow-states" ? [...partitions.values()] : [];
    if (place.container === "collections") await this.#purgeIn(place, partitions);
    for (const { partition } of workflows) await this.#removeStates(firstText(partition));
    let removed = 0;
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await items.erasure.walk(place.scope, place.container, { cursor });
      const rows = page.rows.filter(({ partition }) => partitions.has(JSON.stringify(partition)));
      removed += await this.#deleteAll(place, rows);
      ({ cursor } = page);
    }
    for (const { partition } of workflows) await this.#removeStates(firstText(partition));
    return removed;
  }

  /** The collections of repositories that go. */
  async #purgeIn(place: StorePlace, partitions: ReadonlyMap<string, WalkedItem>): Promise<void> {
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await this.#context.items.erasure.walk(place.scope, place.container, { cursor });
      for (const row of page.rows)
        if (row.document["kind"] === "collection" && partitions.has(JSON.stringify(row.partition)))
          await this.#collection(row);
      ({ cursor } = page);
    }
  }

  async #removeStates(workflowId: string): Promise<void> {
    const { knowledge, state } = this.#deps;
    const removed = await knowledge.removeObjects(this.#scope, state.workflowPrefix(workflowId));
    if (removed > 0) this.#count(objectsStore, "deleted", removed);
  }

  async #removeObjects(): Promise<void> {
    const prefix = this.#objectsPrefix;
    if (this.#isWorkspace) {
      this.#count(triplesStore, "deleted", await this.#deps.knowledge.purgeTriples(this.#scope));
      await this.#deps.destroyKeys(this.#context.workspace);
    }
    if (prefix === undefined) return;
    this.#count(objectsStore, "deleted", await this.#deps.knowledge.removeObjects(this.#scope, prefix));
  }

  async #countObjects(): Promise<number> {
    const prefix = this.#objectsPrefix;
    return prefix === undefined ? 0 : this.#deps.knowledge.countObjects(this.#scope, prefix);
  }

  get #objectsPrefix(): string | undefined {
    if (this.#isWorkspace) return "";
    const { type, id } = this.#subject;
    return type === "user" && !this.#context.holds.some((hold) => hold.covers(type, id))
      ? this.#deps.knowledge.filesPrefix(id)
      : undefined;
  }

  #hold(store: string, held: number, holds: readonly string[]): void {
    if (held > 0) this.#count(store, "held", held);
    for (const id of holds) this.holds.add(id);
  }

  #count(store: string, what: Counted | "found" | "held" | "remaining", by: number): void {
    const known = this.counts.get(store) ?? emptyCounts(store);
    this.counts.set(store, { ...known, [what]: (known[what] ?? 0) + by });
  }
}

interface RowsOfDay {
  readonly date: string;
  readonly rows: readonly WalkedItem[];
}

/** Rows of one day after another: pieces are of one day. */
class DayRows {
  #date = "";
  #rows: WalkedItem[] = [];

  /** The rows of the day before, or as many as are enough. */
  add(row: WalkedItem): RowsOfDay | undefined {
    const date = firstText(row.partition);
    const full = date !== this.#date || this.#rows.length >= rowsOfADay ? this.take() : undefined;
    this.#date = date;
    this.#rows.push(row);
    return full;
  }

  take(): RowsOfDay | undefined {
    if (this.#rows.length === 0) return undefined;
    const taken = { date: this.#date, rows: this.#rows };
    this.#rows = [];
    return taken;
  }
}

function rowsWith(hits: readonly Hit[], what: Hit["verdict"]["do"]): readonly WalkedItem[] {
  return hits.flatMap(({ row, verdict }) => (verdict.do === what ? [row] : []));
}

function union(known: readonly string[], more: Iterable<string>): string[] {
  return [...new Set([...known, ...more])];
}

/** The only value of a partition: a day, or the id of a workflow. */
function firstText([value]: Partition): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
