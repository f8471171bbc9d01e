/**
 * Every call of a process to its stores, by number and name, and the fault a test injects: the process dies there, the call fails, its
 * answer is lost, or it waits. A dead process makes no further call and never gets an answer, as after kill -9.
 */
import { PinakesError } from "../../../src/domain/errors.ts";
import type { ItemStore, Operation } from "../../../src/ports/item-store.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";

export type FaultKind = "crash-before" | "crash-after" | "error-before" | "error-after";

export interface Fault {
  /** Which call: its number from 0, or a condition on its name; a fault happens once unless it is `always`. */
  readonly at: number | ((name: string) => boolean);
  readonly kind: FaultKind | "hold" | "hold-after";
  readonly always?: boolean;
  readonly error?: Error;
  /** For "hold": the call continues when this is settled. */
  readonly until?: Promise<unknown>;
  /** Called when it happens. */
  readonly reached?: () => void;
}

export class Calls {
  readonly names: string[] = [];
  readonly #faults: Fault[] = [];
  readonly #died = Promise.withResolvers<void>();
  #dead = false;

  get died(): Promise<void> {
    return this.#died.promise;
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Faults that have not happened yet. */
  get waiting(): number {
    return this.#faults.length;
  }

  add(fault: Fault): void {
    this.#faults.push(fault);
  }

  clear(): void {
    this.#faults.length = 0;
  }

  count(part: string): number {
    return this.names.filter((name) => name.startsWith(part)).length;
  }

  async call<T>(name: string, action: () => Promise<T>): Promise<T> {
    if (this.#dead) return never();
    const number = this.names.push(name) - 1;
    const fault = this.#take(name, number);
    fault?.reached?.();
    if (fault?.kind === "crash-before") return this.#die();
    if (fault?.kind === "error-before") throw fault.error ?? unavailable(name);
    if (fault?.kind === "hold") await fault.until;
    const result = await action();
    if (fault?.kind === "hold-after") await fault.until;
    if (fault?.kind === "crash-after") return this.#die();
    if (fault?.kind === "error-after") throw fault.error ?? unavailable(name);
    return this.#dead ? never() : result;
  }

  #take(name: string, number: number): Fault | undefined {
    const found = this.#faults.findIndex(({ at }) => (typeof at === "number" ? at === number : at(name)));
    if (found < 0) return undefined;
    const fault = this.#faults[found] as Fault;
    if (fault.always !== true) this.#faults.splice(found, 1);
    return fault;
  }

  #die<T>(): Promise<T> {
    this.#dead = true;
    this.#died.resolve();
    return never();
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}

function unavailable(name: string): PinakesError {
  return new PinakesError("UNAVAILABLE", `Injected: ${name}.`);
}

export function watchedItems(items: ItemStore, calls: Calls): ItemStore {
  const watched: Partial<ItemStore> = {
    read: (scope, container, key) => calls.call(`read ${key.id}`, () => items.read(scope, container, key)),
    readMany: (scope, container, keys) =>
      calls.call(`read ${keys.map(({ id }) => id).join(" ")}`, () => items.readMany(scope, container, keys)),
    query: (scope, container, query) =>
      calls.call(`query ${container} ${JSON.stringify(query.range ?? "")}`, () => items.query(scope, container, query)),
    write: (scope, container, partition, operation) =>
      calls.call(`write ${container} ${labelOf(operation)}`, () => items.write(scope, container, partition, operation)),
    batch: (scope, container, partition, operations) =>
      calls.call(`batch ${operations.map(labelOf).join(", ")}`, () =>
        items.batch(scope, container, partition, operations),
      ),
    openContainer: (definition, options) => items.openContainer(definition, options),
  };
  return onlyKnown(watched);
}

export function watchedObjects(objects: ObjectStore, calls: Calls): ObjectStore {
  const watched: Partial<ObjectStore> = {
    put: (scope, key, body, options) => calls.call(`put ${key}`, () => objects.put(scope, key, body, options)),
    get: (scope, key, options) => calls.call(`get ${key}`, () => objects.get(scope, key, options)),
    list: (scope, prefix, options) => calls.call(`list ${prefix}`, () => objects.list(scope, prefix, options)),
    delete: (scope, keys, options) =>
      calls.call(`delete ${keys.length} objects`, () => objects.delete(scope, keys, options)),
  };
  return onlyKnown(watched);
}

function labelOf(operation: Operation): string {
  return `${operation.op} ${"id" in operation ? operation.id : String(operation.document["id"])}`;
}

/** An unwatched call must not go unnoticed. */
function onlyKnown<Port extends object>(watched: Partial<Port>): Port {
  return new Proxy(watched, {
    get: (target, name) => {
      if (name in target) return target[name as keyof Port];
      throw new Error(`the harness does not watch the call ${String(name)}`);
    },
  }) as Port;
}
