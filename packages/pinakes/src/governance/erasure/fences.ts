/**
 * Writes that name a subject under erasure are refused, so that nothing can be added behind the scan.
 *
 * Invariants
 * - a fence is active in this process once `raise` has resolved, and every write that started before has ended by then;
 * - other processes see it within `fenceMs` of the record, because each reads the records of fenced erasures that often;
 * - without fences a write costs one lookup in an empty map.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore, Operation } from "../../ports/item-store.ts";
import { RunningCalls } from "../../runtime/running-calls.ts";
import { Naming } from "../subjects/naming.ts";
import type { Subject } from "../subjects/subject.ts";

/** Marks the scopes of erasures themselves, which pass their own fences. */
export const erasureReason = "erasure: removes what names a subject, in the workspaces of its request";

export interface Fence {
  readonly erasureId: string;
  readonly workspaces: readonly string[];
  readonly subject: Subject;
}

export class Fences {
  readonly #byTenant = new Map<string, Map<string, Naming>>();
  readonly #running = new RunningCalls();

  /** Resolves when all writes that started before the fence have ended. */
  async raise(fence: Fence): Promise<void> {
    this.#add(fence);
    await this.#running.settled();
  }

  lower(erasureId: string): void {
    for (const [tenant, fences] of this.#byTenant) {
      fences.delete(erasureId);
      if (fences.size === 0) this.#byTenant.delete(tenant);
    }
  }

  /** The fences in the records; `own` are those of this process, which it lowers itself. */
  replace(fences: readonly Fence[], own: ReadonlySet<string>): void {
    const known = new Set([...fences.map(({ erasureId }) => erasureId), ...own]);
    const all = [...this.#byTenant.values()].flatMap((one) => [...one.keys()]);
    for (const id of all) if (!known.has(id)) this.lower(id);
    for (const fence of fences) this.#add(fence);
  }

  /** Throws CONFLICT if a fence refuses the write; otherwise runs it. */
  async run<Result>(scope: Scope, operations: readonly Operation[], write: () => Promise<Result>): Promise<Result> {
    const fences = this.#byTenant.get(scope?.tenant);
    if (fences !== undefined) for (const naming of fences.values()) check(scope, operations, naming);
    return this.#running.run(write);
  }

  #add({ erasureId, workspaces, subject }: Fence): void {
    for (const workspace of workspaces) {
      const fences = this.#byTenant.get(workspace) ?? new Map<string, Naming>();
      fences.set(erasureId, new Naming(subject));
      this.#byTenant.set(workspace, fences);
    }
  }
}

function check(scope: Scope, operations: readonly Operation[], naming: Naming): void {
  if (scope.systemReason === erasureReason) return;
  const { type } = naming.subject;
  const adds = operations.filter(({ op }) => op !== "delete" && op !== "check");
  if (adds.length === 0) return;
  // The system's own work removes and counts; it writes nothing new about a person, but much about a workspace.
  if (type === "workspace") throw refused("This workspace is being erased; nothing can be written to it.");
  if (scope.systemReason !== undefined) return;
  if (adds.some((operation) => namesSubject(operation, naming)))
    throw refused(`This ${type} is being erased; what names it cannot be written until that is done.`);
}

function namesSubject(operation: Operation, naming: Naming): boolean {
  if ("document" in operation)
    return naming.redacted(operation.document) !== undefined || naming.names(operation.document);
  if (operation.op !== "patch") return false;
  const { id } = naming.subject;
  return operation.patch.some((step) => "value" in step && holds(step.value, id));
}

function holds(value: unknown, id: string): boolean {
  return (
    value === id || (typeof value === "object" && value !== null && JSON.stringify(value).includes(JSON.stringify(id)))
  );
}

function refused(detail: string): PinakesError {
  return new PinakesError("CONFLICT", detail);
}

/** The same store with fences. */
export function fencedItems(store: ItemStore, fences: Fences): ItemStore {
  return {
    capabilities: store.capabilities,
    erasure: store.erasure,
    openContainer: (definition, options) => store.openContainer(definition, options),
    defaultTtl: (scope, container) => store.defaultTtl(scope, container),
    setDefaultTtl: (scope, container, ttl) => store.setDefaultTtl(scope, container, ttl),
    indexes: (container) => store.indexes(container),
    read: (scope, container, key, options) => store.read(scope, container, key, options),
    readRaw: (scope, container, key, options) => store.readRaw(scope, container, key, options),
    readMany: (scope, container, keys) => store.readMany(scope, container, keys),
    write: (scope, container, partition, operation) =>
      fences.run(scope, [operation], () => store.write(scope, container, partition, operation)),
    batch: (scope, container, partition, operations) =>
      fences.run(scope, operations, () => store.batch(scope, container, partition, operations)),
    query: (scope, container, query) => store.query(scope, container, query),
    count: (scope, container, query) => store.count(scope, container, query),
    deletePartition: (scope, container, partition, options) =>
      store.deletePartition(scope, container, partition, options),
    changes: (scope, container, options) => store.changes(scope, container, options),
    purgeExpired: (scope, container, options) => store.purgeExpired(scope, container, options),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  };
}
