/**
 * The contract of the vector store, on any item store and any object store (R-CMP-34). Uses only the public API, with two simulated
 * processes that share nothing but the stores.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { systemScope } from "../../src/domain/scope.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import type { ObjectStore } from "../../src/ports/object-store.ts";
import { openVectors, type OpenedVectors } from "../../src/vectors/open-vectors.ts";
import type { Vectors } from "../../src/vectors/vectors.ts";
import { queryCases } from "./suite-queries.ts";
import { tenantCases } from "./suite-tenants.ts";
import { writeCases } from "./suite-writes.ts";

export interface Stores {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
}

/** Each call returns the same stores again, as another process would open them. */
export type OpenStores = () => Promise<Stores>;

export interface Fixture {
  readonly first: Vectors;
  readonly second: Vectors;
  readonly sweep: () => Promise<void>;
  /** A unique id of a collection. */
  id(): string;
}

export function vectorStoreSuite(name: string, open: OpenStores): void {
  describe(`vectors on ${name}`, () => {
    const opened: OpenedVectors[] = [];
    const stores: Stores[] = [];
    let ids = 0;
    const at = (index: number): OpenedVectors => {
      const found = opened[index];
      if (found === undefined) throw new Error("the stores are not open yet");
      return found;
    };
    beforeAll(async () => {
      for (let process = 0; process < 2; process += 1) {
        const { items, objects } = await open();
        stores.push({ items, objects });
        opened.push(
          await openVectors({ items, objects, system: systemScope("suite of the vector store", () => {}), threads: 1 }),
        );
      }
    });
    afterAll(async () => {
      for (const vectors of opened) await vectors.close();
      for (const { items, objects } of stores) {
        await items.close();
        await objects.close();
      }
    });
    const fixture: Fixture = {
      get first() {
        return at(0).vectors;
      },
      get second() {
        return at(1).vectors;
      },
      sweep: () => at(1).sweep(),
      id: () => `c${(ids += 1)}`,
    };
    writeCases(fixture);
    queryCases(fixture);
    tenantCases(fixture);
  });
}
