/**
 * Moves a whole store to another engine (RFC 0009): items of all containers and tenants as they are, objects by their bytes, triples
 * through their port. Offline: neither store may be in use. It can stop anywhere; a record in the target has the progress, and every step
 * is idempotent. At the end both sides are measured and compared.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { SystemScope } from "../../domain/scope.ts";
import type { ArchivedItem, ItemArchive } from "../../ports/item-archive.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { canonicalText, ContentHash, isSame, type Measured } from "../content-hash.ts";
import { copyObjects, measureObjects } from "./move-objects.ts";
import { copyTriples, measureTriples } from "./move-triples.ts";
import { MoveRecord, movesContainer } from "./move-record.ts";

export interface MovingStores {
  readonly archive: ItemArchive;
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly triples: TripleStore;
  /** Objects that are parts of items in this engine, and are not moved as objects. */
  readonly spillPrefix?: string | undefined;
}

export interface MoveOptions {
  readonly system: SystemScope;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: { readonly what: string; readonly done: number }) => void) | undefined;
  /** Only compare. */
  readonly verifyOnly?: boolean | undefined;
}

export interface MovedPart {
  readonly part: string;
  readonly source: Measured;
  readonly target: Measured;
  readonly equal: boolean;
}

export interface MoveReport {
  readonly equal: boolean;
  readonly tenants: number;
  readonly parts: readonly MovedPart[];
}

/** Triples stored as items are moved through their port, since the target may store them differently. */
const tripleContainer = "triples";
const queueContainer = "queues";
/** Each side encrypts its objects with keys of its own (RFC 0019). */
const keysContainer = "workspace-keys";
const notMoved: readonly string[] = [tripleContainer, movesContainer.name, keysContainer];
const rowsPerTell = 1_000;

export async function moveStores(from: MovingStores, to: MovingStores, options: MoveOptions): Promise<MoveReport> {
  const containers = (await from.archive.containers()).filter(({ name }) => !notMoved.includes(name));
  await requireEmptyQueue(from, containers, options);
  const record = await MoveRecord.open(to.items, options.system);
  if (options.verifyOnly !== true) {
    for (const container of containers) await copyContainer(from, to, container, record, options);
    await copyObjects(from, to, record, options);
    await copyTriples(from, to, await tenantsOf(from, containers, options), record, options);
  }
  return verify(from, to, containers, options);
}

async function verify(
  from: MovingStores,
  to: MovingStores,
  containers: readonly ContainerDefinition[],
  options: MoveOptions,
): Promise<MoveReport> {
  const parts: MovedPart[] = [];
  const compare = (part: string, source: Measured, target: Measured) =>
    parts.push({ part, source, target, equal: isSame(source, target) });
  const now = options.now();
  for (const { name } of containers)
    compare(
      `container ${name}`,
      await measureContainer(from, name, now, options),
      await measureContainer(to, name, now, options),
    );
  compare("objects", await measureObjects(from, options), await measureObjects(to, options));
  const tenants = await tenantsOf(from, containers, options);
  for (const tenant of tenants) {
    const [source, target] = [
      await measureTriples(from.triples, options, tenant),
      await measureTriples(to.triples, options, tenant),
    ];
    if (source.count + target.count > 0) compare(`triples of ${tenant}`, source, target);
  }
  return { equal: parts.every(({ equal }) => equal), tenants: tenants.length, parts };
}

async function copyContainer(
  from: MovingStores,
  to: MovingStores,
  container: ContainerDefinition,
  record: MoveRecord,
  options: MoveOptions,
): Promise<void> {
  const progress = await record.read(`container ${container.name}`);
  if (progress.done) return;
  let { cursor, copied } = progress;
  await to.archive.load(container, []);
  do {
    options.signal.throwIfAborted();
    const page = await from.archive.dump(container.name, { now: options.now(), cursor });
    await to.archive.load(container, page.items);
    copied += page.items.length;
    cursor = page.cursor;
    await record.write(`container ${container.name}`, { cursor, copied, done: cursor === undefined });
    options.onProgress?.({ what: container.name, done: copied });
  } while (cursor !== undefined);
}

async function measureContainer(
  { archive }: MovingStores,
  name: string,
  now: number,
  { signal, onProgress }: MoveOptions,
): Promise<Measured> {
  const sum = new ContentHash();
  let rows = 0;
  for await (const item of itemsOf(archive, name, now, signal)) {
    sum.add(
      `${JSON.stringify([name, item.pk, item.id, item.etag, item.modifiedAt])}${canonicalText(JSON.parse(item.json) as never)}`,
    );
    if ((rows += 1) % rowsPerTell === 0) onProgress?.({ what: `comparing ${name}`, done: rows });
  }
  onProgress?.({ what: `comparing ${name}`, done: rows });
  return sum.measured;
}

async function* itemsOf(
  archive: ItemArchive,
  name: string,
  now: number,
  signal: AbortSignal,
): AsyncGenerator<ArchivedItem> {
  for (let cursor: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await archive.dump(name, { now, cursor });
    yield* page.items;
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

/** All tenants with an item. */
async function tenantsOf(
  { archive }: MovingStores,
  containers: readonly ContainerDefinition[],
  { now, signal }: MoveOptions,
): Promise<readonly string[]> {
  const found = new Set<string>();
  const all = [...containers.map(({ name }) => name), tripleContainer];
  for (const name of all) for await (const { tenant } of itemsOf(archive, name, now(), signal)) found.add(tenant);
  return [...found].toSorted();
}

/** A message in flight would be processed twice, or never. */
async function requireEmptyQueue(
  { archive }: MovingStores,
  containers: readonly ContainerDefinition[],
  { now, signal }: MoveOptions,
): Promise<void> {
  if (!containers.some(({ name }) => name === queueContainer)) return;
  for await (const { id, pk } of itemsOf(archive, queueContainer, now(), signal)) {
    if (id.startsWith("m."))
      throw new PinakesError(
        "CONFLICT",
        `The queue ${pk} still has messages. Let the server process them, stop it, and then move.`,
      );
  }
}
