/** The four item stores on their real engines, each opened once for a test file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { startDynamo } from "../../../src/drivers/dynamodb/test-server.ts";
import { TestStores } from "../../../src/drivers/dynamodb/test-stores.ts";
import { openMemoryItems } from "../../../src/drivers/memory/index.ts";
import { openPostgresItems } from "../../../src/drivers/postgres/index.ts";
import { startPostgres } from "../../../src/drivers/postgres/test-server.ts";
import { openSqliteItems } from "../../../src/drivers/sqlite/index.ts";
import type { ContainerDefinition, ItemStore } from "../../../src/ports/item-store.ts";

export type EngineName = "memory" | "sqlite" | "postgres" | "dynamodb";
export const engineNames: readonly EngineName[] = ["memory", "sqlite", "postgres", "dynamodb"];

interface Opened {
  readonly store: ItemStore;
  readonly close: () => Promise<void>;
}

async function open(name: EngineName): Promise<Opened> {
  if (name === "memory") {
    const store = await openMemoryItems();
    return { store, close: () => store.close() };
  }
  if (name === "sqlite") {
    const dir = mkdtempSync(join(tmpdir(), "pinakes-sql-"));
    const store = await openSqliteItems({ dir });
    const close = async () => {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    };
    return { store, close };
  }
  const server = await (name === "postgres" ? startPostgres() : startDynamo());
  const store =
    "url" in server
      ? await openPostgresItems({ url: server.url, database: "sql" })
      : await new TestStores(() => server.endpoint).open();
  const close = async () => {
    await store.close();
    await server.stop();
  };
  return { store, close };
}

/** Opens the engines before the tests of the file, with one container on each. */
export function engines(
  container: ContainerDefinition,
  names: readonly EngineName[] = engineNames,
): (name: EngineName) => ItemStore {
  const opened = new Map<EngineName, Opened>();
  beforeAll(async () => {
    for (const name of names) {
      const engine = await open(name);
      opened.set(name, engine);
      await engine.store.openContainer(container);
    }
  });
  afterAll(async () => {
    for (const { close } of opened.values()) await close();
  });
  return (name) => {
    const engine = opened.get(name);
    if (engine === undefined) throw new Error(`${name} is not open`);
    return engine.store;
  };
}
