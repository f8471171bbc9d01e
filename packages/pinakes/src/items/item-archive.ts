/** An item archive over any engine that can list and dump its containers. */
import { PinakesError, invalid } from "../domain/errors.ts";
import { invariant } from "../domain/invariant.ts";
import type { JsonObject } from "../domain/json.ts";
import { isExpired } from "../domain/ttl.ts";
import type { ArchivedContainer, ArchivedItem, ItemArchive } from "../ports/item-archive.ts";
import { normaliseDefinition, type NormalDefinition } from "./compiled-container.ts";
import type { ItemEngine, StoredItem } from "./item-engine.ts";
import { prepareDocument } from "./prepare.ts";

const rowsPerPage = 500;
const commitsAtOnce = 64;

export function archiveOf(engine: ItemEngine): ItemArchive {
  return {
    containers: async () => (await engine.definitions()).map(asDeclared).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    dump: async (container, { now, cursor, limit = rowsPerPage }) => {
      const definition = (await engine.definitions()).find(({ name }) => name === container);
      if (definition === undefined) return { items: [] };
      const page = await engine.dump(container, cursor, limit);
      return {
        items: page.rows.filter((row) => isLive(definition, row, now)).map(archived),
        cursor: page.cursor,
      };
    },
    load: async (definition, items) => {
      const { tenantTtls } = definition;
      await engine.openContainer({ ...normaliseDefinition(definition), ...(tenantTtls && { tenantTtls }) }, {});
      for (let at = 0; at < items.length; at += commitsAtOnce)
        await Promise.all(items.slice(at, at + commitsAtOnce).map((item) => loadItem(engine, definition.name, item)));
    },
  };
}

/** With its original modification time: its age, and so its time to live, stay the same. */
async function loadItem(
  engine: ItemEngine,
  name: string,
  { tenant, pk, id, etag, modifiedAt, json }: ArchivedItem,
): Promise<void> {
  const container = engine.container(name);
  invariant(container !== undefined, "INTERNAL", "a container that was opened exists");
  const prepared = prepareDocument(container, tenant, pk, JSON.parse(json) as JsonObject);
  invariant(prepared.id === id, "CORRUPT", `item ${id} of ${name} has the id ${prepared.id}`);
  const outcome = await engine.commit(container, {
    tenant,
    pk,
    now: modifiedAt,
    operations: [{ op: "upsert", id, idKey: prepared.idKey, etag, prepared }],
  });
  if (!outcome.ok)
    throw new PinakesError(
      outcome.failure.code,
      `Item ${JSON.stringify(id)} of container "${name}": ${outcome.failure.detail}`,
    );
}

function tenantOf(pk: string): string {
  if (!pk.startsWith("["))
    throw new PinakesError(
      "NOT_SUPPORTED",
      `A partition key that is stored as a hash (${pk}) cannot be moved: its tenant is unknown.`,
    );
  const [tenant] = JSON.parse(pk) as [unknown];
  if (typeof tenant !== "string") throw invalid(`The row ${pk} is not an item.`);
  return tenant;
}

function archived({ pk, etag, modifiedAt, json }: StoredItem): ArchivedItem {
  const tenant = tenantOf(pk);
  const { id } = JSON.parse(json) as { readonly id?: unknown };
  if (typeof id !== "string") throw invalid(`The row ${pk} is no item.`);
  return { tenant, pk, id, etag, modifiedAt, json };
}

function isLive(definition: NormalDefinition, row: StoredItem, now: number): boolean {
  const { ttl, tenantTtls = {} } = definition;
  const tenant = tenantOf(row.pk);
  const own = Object.hasOwn(tenantTtls, tenant) ? tenantTtls[tenant] : undefined;
  return !isExpired(own === undefined ? ttl : own[0], row.ttl, row.modifiedAt, now);
}

function asDeclared(definition: NormalDefinition): ArchivedContainer {
  return definition;
}
