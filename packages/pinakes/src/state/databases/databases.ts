/**
 * Databases group the containers of a workspace in namespaces, as in Cosmos DB. The default database always exists: it contains
 * system containers and those created at `/v1/containers`. A container of another database is a user container of the
 * workspace whose name (`db-…`) is derived from both names.
 *
 * Invariants
 * - the entry of a container is written before the container, and deleted after it; an entry without a container is ignored;
 * - a database is deleted when its last container is.
 */
import { hash, randomBytes } from "node:crypto";
import type { ContainerInfo, ContainerSpec } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { utf8Bytes, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item } from "../../ports/item-store.ts";
import { ifMissing, tolerate } from "../../runtime/expected-errors.ts";
import type { Containers } from "../containers/containers.ts";
import type { StateDependencies } from "../dependencies.ts";
import { settingsContainer } from "../settings.ts";
import { everyItem } from "../../containers/every-item.ts";
import {
  checkName,
  checkThroughput,
  containerOf,
  containersTopic,
  databaseOf,
  databasesTopic,
  settingsBytesMax,
  type DatabaseContainer,
  type DatabaseInfo,
  type Throughput,
} from "./database-records.ts";

export const databasesPerWorkspaceMax = 100;
const cacheMsMax = 5_000;
const cacheEntriesMax = 10_000;
/** Prefix of user containers that belong to a database other than the default one. */
const memberPrefix = "db-";
/** A valid name for a container of the workspace. */
const plainName = /^[a-z][a-z0-9-]{0,59}$/;

export interface NewContainer {
  readonly name: string;
  readonly spec: ContainerSpec;
  readonly throughput?: Throughput | null | undefined;
  readonly settings?: JsonObject | undefined;
}

/** A container's record in its database and in the workspace. */
export interface FoundContainer {
  readonly database: DatabaseInfo;
  readonly entry: DatabaseContainer;
  readonly info: ContainerInfo;
}

export class Databases {
  readonly #deps: StateDependencies;
  readonly #containers: Containers;
  readonly #cache = new Map<string, { readonly found: FoundContainer; readonly at: number }>();

  constructor(deps: StateDependencies, containers: Containers) {
    this.#deps = deps;
    this.#containers = containers;
  }

  async open(): Promise<void> {}

  /** The default one comes first, once it is not empty. */
  async list(caller: Caller): Promise<readonly DatabaseInfo[]> {
    const scope = requireCaller(caller);
    const made = (await this.#all(scope, databasesTopic)).map(databaseOf);
    return (await this.#isUsed(caller)) ? [this.#default(scope), ...made] : made;
  }

  async get(caller: Caller, name: string): Promise<DatabaseInfo> {
    const scope = requireCaller(caller);
    if (name === this.#defaultName) return this.#default(scope);
    const item = await this.#read(scope, databasesTopic, checkName(name, "database"));
    if (item === undefined) throw noDatabase(name);
    return databaseOf(item);
  }

  async create(caller: Caller, name: string, throughput: Throughput | null = null): Promise<DatabaseInfo> {
    const scope = requireCaller(caller);
    checkName(name, "database");
    const taken = () => new PinakesError("CONFLICT", `Database ${show(name)} already exists.`);
    if (name === this.#defaultName) throw taken();
    const made = await this.#all(scope, databasesTopic);
    if (made.some(({ id }) => id === name)) throw taken();
    if (made.length >= databasesPerWorkspaceMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The workspace already has ${databasesPerWorkspaceMax} databases, the maximum; delete one first.`,
      );
    const document = { id: name, topic: databasesTopic, key: newKey(), throughput: plain(checkThroughput(throughput)) };
    await this.#deps.items.write(scope, settingsContainer.name, [databasesTopic], { op: "create", document });
    return this.get(caller, name);
  }

  /** Including all its containers. */
  async delete(caller: Caller, name: string): Promise<void> {
    const scope = requireCaller(caller);
    const database = await this.get(caller, name);
    requireAdmin(caller, `Only an admin of the workspace can delete database ${show(name)}.`);
    if (database.default)
      throw new PinakesError(
        "FORBIDDEN",
        `Database ${show(name)} contains system containers and cannot be deleted; delete your containers in it.`,
      );
    this.#cache.clear();
    for (const item of await this.#all(scope, containersTopic(database.key)))
      await this.#remove(caller, database, containerOf(item));
    await tolerate(
      this.#deps.items.write(scope, settingsContainer.name, [databasesTopic], { op: "delete", id: name }),
      "NOT_FOUND",
    );
  }

  async setDatabaseThroughput(caller: Caller, name: string, throughput: Throughput | null): Promise<DatabaseInfo> {
    const scope = requireCaller(caller);
    const { default: isDefault } = await this.get(caller, name);
    if (isDefault) throw invalid("The default database has no throughput setting; set that of a container.");
    await this.#set(scope, databasesTopic, name, { throughput: plain(checkThroughput(throughput)) });
    return this.get(caller, name);
  }

  async containers(caller: Caller, name: string): Promise<readonly FoundContainer[]> {
    const scope = requireCaller(caller);
    const database = await this.get(caller, name);
    const entries = (await this.#all(scope, containersTopic(database.key))).map(containerOf);
    const found: FoundContainer[] = [];
    for (const entry of entries) {
      const info = await ifMissing(this.#containers.get(caller, entry.container));
      if (info !== undefined) found.push({ database, entry, info });
    }
    if (!database.default) return found;
    const infos = (await this.#containers.list(caller)).items;
    const named = new Set(entries.map(({ container }) => container));
    const others = infos.filter((info) => !named.has(info.name) && !isMember(info.name));
    return [...others.map((info) => ({ database, entry: entryOf(database, info), info })), ...found];
  }

  /** Without `fresh` it may be cached for a few seconds: the container itself reports if it is gone. */
  async container(
    caller: Caller,
    databaseName: string,
    name: string,
    { fresh = true }: { readonly fresh?: boolean } = {},
  ): Promise<FoundContainer> {
    const scope = requireCaller(caller);
    const key = JSON.stringify([scope.tenant, databaseName, name]);
    const known = this.#cache.get(key);
    const age = known === undefined ? Infinity : this.#deps.clock.now() - known.at;
    if (known !== undefined && !fresh && age >= 0 && age < cacheMsMax) return known.found;
    this.#cache.delete(key);
    const found = await this.#findContainer(caller, databaseName, name);
    if (this.#cache.size >= cacheEntriesMax) this.#cache.clear();
    this.#cache.set(key, { found, at: this.#deps.clock.now() });
    return found;
  }

  async #findContainer(caller: Caller, databaseName: string, name: string): Promise<FoundContainer> {
    const scope = requireCaller(caller);
    const database = await this.get(caller, databaseName);
    const item = await this.#read(scope, containersTopic(database.key), checkName(name, "container"));
    const plainly = item === undefined && database.default && plainName.test(name) && !isMember(name);
    if (item === undefined && !plainly) throw noContainer(name, databaseName);
    const entry = item === undefined ? undefined : containerOf(item);
    try {
      const info = await this.#containers.get(caller, entry?.container ?? name);
      return { database, entry: entry ?? entryOf(database, info), info };
    } catch (error) {
      throw hasCode(error, "NOT_FOUND") ? noContainer(name, databaseName) : error;
    }
  }

  async createContainer(caller: Caller, databaseName: string, made: NewContainer): Promise<FoundContainer> {
    const scope = requireCaller(caller);
    const { name, spec, settings = {} } = made;
    const database = await this.get(caller, databaseName);
    checkName(name, "container");
    checkSettings(settings);
    const taken = () => new PinakesError("CONFLICT", `Container ${show(name)} already exists.`);
    const known = await this.container(caller, databaseName, name).catch((error: unknown) => {
      if (hasCode(error, "NOT_FOUND")) return undefined;
      throw error;
    });
    if (known !== undefined) throw taken();
    const key = newKey();
    const container = database.default && plainName.test(name) && !isMember(name) ? name : memberName(database, key);
    const topic = containersTopic(database.key);
    const throughput = plain(checkThroughput(made.throughput));
    const document = { id: name, topic, key, container, throughput, settings };
    // Removes what an interrupted call left: an entry without its container.
    await tolerate(
      this.#deps.items.write(scope, settingsContainer.name, [topic], { op: "delete", id: name }),
      "NOT_FOUND",
    );
    await this.#deps.items.write(scope, settingsContainer.name, [topic], { op: "create", document });
    try {
      await this.#containers.put(caller, container, spec, { ifNoneMatch: "*" });
    } catch (error) {
      await tolerate(
        this.#deps.items.write(scope, settingsContainer.name, [topic], { op: "delete", id: name }),
        "NOT_FOUND",
      );
      throw hasCode(error, "PRECONDITION_FAILED") ? taken() : error;
    }
    return this.container(caller, databaseName, name);
  }

  /** Its definition, and the client's settings. */
  async replaceContainer(
    caller: Caller,
    found: FoundContainer,
    spec: ContainerSpec,
    settings: JsonObject,
  ): Promise<FoundContainer> {
    const scope = requireCaller(caller);
    checkSettings(settings);
    const { database, entry, info } = found;
    await this.#containers.put(caller, info.name, spec);
    await this.#keepEntry(scope, found);
    await this.#set(scope, containersTopic(database.key), entry.name, { settings });
    return this.container(caller, database.name, entry.name);
  }

  /** Of a system container, for this workspace. */
  async setDefaultTtl(caller: Caller, { database, entry, info }: FoundContainer, ttl: number | null) {
    await this.#containers.setDefaultTtl(caller, info.name, ttl);
    this.#cache.clear();
    return this.container(caller, database.name, entry.name);
  }

  async deleteContainer(caller: Caller, { database, entry, info }: FoundContainer): Promise<void> {
    requireCaller(caller);
    if (info.kind === "system")
      throw new PinakesError("FORBIDDEN", `${show(entry.name)} is a system container and cannot be deleted.`);
    await this.#remove(caller, database, entry);
  }

  async setThroughput(caller: Caller, found: FoundContainer, throughput: Throughput): Promise<FoundContainer> {
    const scope = requireCaller(caller);
    const { database, entry } = found;
    requireAdmin(caller, `Only an admin of the workspace can set the throughput of container ${show(entry.name)}.`);
    const checked = plain(checkThroughput(throughput));
    await this.#keepEntry(scope, found);
    await this.#set(scope, containersTopic(database.key), entry.name, { throughput: checked });
    return this.container(caller, database.name, entry.name);
  }

  /** A container that was not created through a database gets its entry with its first setting. */
  async #keepEntry(scope: Scope, { database, entry }: FoundContainer): Promise<void> {
    const topic = containersTopic(database.key);
    const { name, key, container, settings } = entry;
    const document = { id: name, topic, key, container, throughput: plain(entry.throughput), settings };
    await tolerate(
      this.#deps.items.write(scope, settingsContainer.name, [topic], { op: "create", document }),
      "CONFLICT",
    );
  }

  /** Cleared after any change by this process: the cache is small, and changes are rare. */
  async #set(scope: Scope, topic: string, id: string, values: Readonly<Record<string, JsonValue>>): Promise<void> {
    const patch = Object.entries(values).map(([name, value]) => ({ op: "set", path: `/${name}`, value }) as const);
    await this.#deps.items.write(scope, settingsContainer.name, [topic], { op: "patch", id, patch });
    this.#cache.clear();
  }

  async #remove(caller: Caller, database: DatabaseInfo, { name, container }: DatabaseContainer): Promise<void> {
    this.#cache.clear();
    await tolerate(this.#containers.delete(caller, container), "NOT_FOUND");
    const removal = { op: "delete", id: name } as const;
    await tolerate(
      this.#deps.items.write(caller.scope, settingsContainer.name, [containersTopic(database.key)], removal),
      "NOT_FOUND",
    );
  }

  get #defaultName(): string {
    return this.#deps.database ?? "pinakes";
  }

  #default({ tenant }: Scope): DatabaseInfo {
    const key = keyOf(["database", tenant]);
    return { name: this.#defaultName, key, etag: key, modified_at: 0, throughput: null, default: true };
  }

  /** Whether the default database has a user container, or a document in a system container. */
  async #isUsed(caller: Caller): Promise<boolean> {
    const { items } = await this.#containers.list(caller);
    if (items.some(({ kind, name }) => kind === "own" && !isMember(name))) return true;
    const query = "SELECT TOP 1 VALUE c.id FROM c";
    for (const { name, kind } of items)
      if (kind === "system" && (await this.#containers.query(caller, name, { query })).items.length > 0) return true;
    return false;
  }

  async #read(scope: Scope, topic: string, id: string): Promise<Item | undefined> {
    return this.#deps.items.read(scope, settingsContainer.name, { partition: [topic], id });
  }

  async #all(scope: Scope, topic: string): Promise<readonly Item[]> {
    return Array.fromAsync(everyItem(this.#deps.items, scope, settingsContainer.name, { equals: { topic } }));
  }
}

function isMember(container: string): boolean {
  return container.startsWith(memberPrefix);
}

function memberName(database: DatabaseInfo, key: string): string {
  return `${memberPrefix}${database.key}-${key}`;
}

/** For a container that was not created through its database. */
function entryOf(database: DatabaseInfo, { name, etag }: ContainerInfo): DatabaseContainer {
  const key = keyOf(["container", database.key, name]);
  return { name, key, etag, modified_at: 0, container: name, throughput: null, settings: {} };
}

function newKey(): string {
  return randomBytes(4).toString("hex");
}

function keyOf(parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "hex").slice(0, 8);
}

function plain(throughput: Throughput | null): JsonObject | null {
  return throughput === null ? null : { ...throughput };
}

function checkSettings(settings: JsonObject): void {
  const bytes = utf8Bytes(JSON.stringify(settings));
  if (bytes > settingsBytesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `The settings of the container have ${bytes} bytes; at most ${settingsBytesMax} are allowed.`,
    );
}

function requireAdmin({ role }: Caller, detail: string): void {
  if (role !== "admin") throw new PinakesError("FORBIDDEN", detail);
}

function noDatabase(name: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no database ${show(name)} in this workspace.`);
}

function noContainer(name: string, database: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no container ${show(name)} in database ${show(database)}.`);
}
