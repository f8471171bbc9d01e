/**
 * The user containers of all workspaces: their definitions, and the item store's containers that hold their data.
 *
 * Invariants
 * - a definition is written before the item store's container is changed, and every process that opens it reads the definition again
 *   afterwards: a process with an outdated one never wins;
 * - the work entry of a container is created before its definition, and removed after its last item;
 * - the number of containers changes in the same batch as the definition.
 */
import type { ContainerSpec, PutContainerOptions } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { isBatchConflict, retryOnConflict } from "../../runtime/expected-errors.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { settingsContainer } from "../settings.ts";
import { everyPage } from "../../containers/every-item.ts";
import { compileSpec, type CompiledSpec } from "./container-spec.ts";
import {
  counterId,
  definitionsTopic,
  noContainer,
  ownOf,
  physicalName,
  recordOf,
  type OwnContainer,
} from "./user-container-record.ts";
import { careMs, careWork } from "./maintenance-work.ts";

export const containersPerWorkspaceMax = 100;
const cacheMsMax = 5_000;
const cacheEntriesMax = 10_000;
const attemptsMax = 50;
const openAttemptsMax = 10;
const partition = [definitionsTopic];

export class OwnContainers {
  readonly #deps: StateDependencies;
  readonly #cache = new Map<string, { readonly own: OwnContainer; readonly at: number }>();
  /** Etag of the definition with which each container was opened in this process. */
  readonly #opened = new Map<string, string>();
  readonly #opening = new Map<string, Promise<void>>();

  constructor(deps: StateDependencies) {
    this.#deps = deps;
  }

  /** A live container, opened. `fresh` if a stale definition would be harmful: a write must not go to a deleted container. */
  async find(scope: Scope, name: string, { fresh }: { readonly fresh: boolean }): Promise<OwnContainer> {
    const key = cacheKey(scope, name);
    const known = this.#cache.get(key);
    const age = known === undefined ? Infinity : this.#deps.clock.now() - known.at;
    if (known !== undefined && !fresh && age >= 0 && age < cacheMsMax) return known.own;
    const own = await this.read(scope, name);
    if (own === undefined || own.deleted) {
      this.#cache.delete(key);
      throw noContainer(name);
    }
    return this.#remember(scope, await this.ensureOpen(scope, own));
  }

  /** As stored, deleted or not. */
  async read(scope: Scope, name: string): Promise<OwnContainer | undefined> {
    const item = await this.#deps.items.read(scope, settingsContainer.name, { partition, id: name });
    if (item === undefined) return undefined;
    // Caches the validation of unchanged definitions, which costs more than reading them.
    const known = this.#cache.get(cacheKey(scope, name))?.own;
    return known?.etag === item.etag ? known : ownOf(scope.tenant, item);
  }

  async list(scope: Scope): Promise<readonly OwnContainer[]> {
    const found: OwnContainer[] = [];
    for await (const page of everyPage(this.#deps.items, scope, settingsContainer.name, {
      equals: { topic: definitionsTopic },
    })) {
      for (const item of page.items)
        if (item.id !== counterId && item.document["deleted"] !== true) found.push(ownOf(scope.tenant, item));
    }
    return found;
  }

  async put(caller: Caller, name: string, given: ContainerSpec, options: PutContainerOptions): Promise<OwnContainer> {
    const { scope } = caller;
    const spec = compileSpec(given);
    return retryOnConflict(
      async () => {
        const known = await this.read(scope, name);
        const living = known === undefined || known.deleted ? undefined : known;
        requireMatch(name, living, options);
        if (living?.spec.text === spec.text) return this.#remember(scope, await this.ensureOpen(scope, living));
        if (living === undefined) await this.#create(scope, name, spec, known);
        else await this.#change(caller, living, spec);
        const own = (await this.read(scope, name)) as OwnContainer;
        return this.#remember(scope, await this.ensureOpen(scope, own));
      },
      { attemptsMax, isConflict: isBatchConflict },
    );
  }

  async delete(caller: Caller, name: string): Promise<void> {
    const { scope } = caller;
    const { clock, work } = this.#deps;
    await retryOnConflict(
      async () => {
        const known = await this.read(scope, name);
        if (known === undefined || known.deleted) throw noContainer(name);
        requireAdmin(caller, `Only an admin of the workspace can delete container "${name}".`);
        const document = recordOf(name, known.incarnation, known.spec.given, true);
        await this.#write(scope, { op: "replace", document, ifMatch: known.etag }, -1);
        this.#cache.delete(cacheKey(scope, name));
        await work.put(careWork(scope.tenant, known, clock.now()));
      },
      { attemptsMax, isConflict: isBatchConflict },
    );
  }

  /** Opens the item store's container in this process by its definition, and returns the current definition. */
  async ensureOpen(scope: Scope, own: OwnContainer): Promise<OwnContainer> {
    let current = own;
    for (let attempt = 1; this.#opened.get(current.target.definition.name) !== current.etag; attempt += 1) {
      if (attempt > openAttemptsMax)
        throw new PinakesError("UNAVAILABLE", `The definition of container "${own.name}" keeps changing; try again.`);
      await this.#open(current);
      const now = await this.read(scope, current.name);
      if (now === undefined || now.deleted) throw noContainer(current.name);
      if (now.etag === current.etag) this.#opened.set(current.target.definition.name, current.etag);
      current = now;
    }
    return current;
  }

  async #open({ target, etag }: OwnContainer): Promise<void> {
    const key = `${target.definition.name} ${etag}`;
    let opening = this.#opening.get(key);
    if (opening === undefined) {
      opening = this.#deps.items
        .openContainer(target.definition, { dropUndeclaredIndexes: true })
        .finally(() => this.#opening.delete(key));
      this.#opening.set(key, opening);
    }
    await opening;
  }

  async #create(scope: Scope, name: string, spec: CompiledSpec, tombstone: OwnContainer | undefined): Promise<void> {
    const { work, clock, newId } = this.#deps;
    const incarnation = newId();
    const document = recordOf(name, incarnation, spec.given);
    const physical = physicalName(scope.tenant, name, incarnation);
    const entry = careWork(
      scope.tenant,
      { name, incarnation, target: { definition: { ...spec.definition, name: physical } } },
      clock.now() + careMs,
    );
    await work.put(entry);
    await this.#write(
      scope,
      tombstone === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: tombstone.etag },
      1,
    );
    // Only if it was removed concurrently, which requires a pause of minutes between these two lines.
    await work.ensure(entry);
  }

  async #change(caller: Caller, known: OwnContainer, spec: CompiledSpec): Promise<void> {
    const { name } = known;
    requireAdmin(
      caller,
      `Container "${name}" has another definition; only an admin of the workspace can change it. Repeating the same definition is allowed.`,
    );
    requireFixed(name, "partition_key", known.spec.definition.partitionKey, spec.definition.partitionKey);
    requireFixed(
      name,
      "optional_key",
      known.spec.definition.optionalKey ?? false,
      spec.definition.optionalKey ?? false,
    );
    requireFixed(name, "unique_keys", known.spec.definition.uniqueKeys, spec.definition.uniqueKeys);
    const document = recordOf(name, known.incarnation, spec.given);
    await this.#write(caller.scope, { op: "replace", document, ifMatch: known.etag }, 0);
  }

  /** Writes the definition together with the count. */
  async #write(scope: Scope, operation: Operation, added: -1 | 0 | 1): Promise<void> {
    const { items } = this.#deps;
    const counter =
      added === 0 ? undefined : await items.read(scope, settingsContainer.name, { partition, id: counterId });
    const operations = added === 0 ? [operation] : [operation, countOperation(counter, added)];
    await items.batch(scope, settingsContainer.name, partition, operations);
  }

  #remember(scope: Scope, own: OwnContainer): OwnContainer {
    if (this.#cache.size >= cacheEntriesMax) this.#cache.clear();
    this.#cache.set(cacheKey(scope, own.name), { own, at: this.#deps.clock.now() });
    return own;
  }
}

function countOperation(counter: Item | undefined, added: -1 | 1): Operation {
  const count = ((counter?.document["count"] as number | undefined) ?? 0) + added;
  if (added > 0 && count > containersPerWorkspaceMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `The workspace already has ${containersPerWorkspaceMax} containers, the maximum; delete one first.`,
    );
  const document = { id: counterId, topic: definitionsTopic, count };
  return counter === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: counter.etag };
}

function cacheKey(scope: Scope, name: string): string {
  return `${scope.tenant}\0${name}`;
}

function requireMatch(
  name: string,
  living: OwnContainer | undefined,
  { ifMatch, ifNoneMatch }: PutContainerOptions,
): void {
  if (ifNoneMatch !== undefined && ifNoneMatch !== "*")
    throw invalid(`ifNoneMatch: only "*" (create only) is supported; got ${show(ifNoneMatch)}.`);
  if (ifNoneMatch === "*" && living !== undefined)
    throw new PinakesError("PRECONDITION_FAILED", `Container "${name}" already exists; choose another name.`, {
      currentEtag: living.etag,
    });
  if (ifMatch === undefined || living?.etag === ifMatch) return;
  const detail =
    living === undefined
      ? `Container "${name}" does not exist, so it has no etag.`
      : `Container "${name}" was changed concurrently; read it again.`;
  throw new PinakesError("PRECONDITION_FAILED", detail, living === undefined ? {} : { currentEtag: living.etag });
}

export function requireAdmin({ role }: Caller, detail: string): void {
  if (role !== "admin") throw new PinakesError("FORBIDDEN", detail);
}

function requireFixed(name: string, field: string, before: unknown, after: unknown): void {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  throw new PinakesError(
    "CONFLICT",
    `Container "${name}": ${field} is immutable (${JSON.stringify(before)}) and cannot become ${JSON.stringify(after)}. Create another container and copy.`,
  );
}
