/** An identity layer on a real engine, with a clock moved by hand; and a store that counts, fails and waits on request around the real one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemScope } from "../domain/scope.ts";
import { openMemoryItems } from "../drivers/memory/index.ts";
import { openSqliteItems } from "../drivers/sqlite/index.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { ManualClock } from "../testing/item-store/fixture.ts";
import { openIdentity, type Authenticated, type Identity, type IdentityDependencies } from "./index.ts";

export const rootToken = "root-token-of-the-tests-0123456789abcdef";
export const engines = ["memory", "sqlite"] as const;
export const system = systemScope("identity tests", () => {});
export const identityScope = system.forTenant("pinakes.identity");

export interface TestIdentity extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly items: ItemStore;
  readonly identity: Identity;
  readonly lines: string[];
  /** The root token's rights. */
  readonly root: Authenticated;
  by(bearer: string): Promise<Authenticated>;
  /** Another process on the same store. */
  another(deps?: Partial<IdentityDependencies>): Promise<Identity>;
  /** Closes all and opens the same data again (sqlite). */
  restart(deps?: Partial<IdentityDependencies>): Promise<void>;
}

export async function testIdentity(
  engine: (typeof engines)[number] = "memory",
  deps: Partial<IdentityDependencies> = {},
): Promise<TestIdentity> {
  const clock = new ManualClock();
  const lines: string[] = [];
  const dir = engine === "sqlite" ? mkdtempSync(join(tmpdir(), "pinakes-identity-")) : undefined;
  const openItems = () => (dir === undefined ? openMemoryItems({ clock }) : openSqliteItems({ dir, clock }));
  let items = await openItems();
  const open = (more: Partial<IdentityDependencies> = {}) =>
    openIdentity({ items, system, clock, rootToken, log: (line) => lines.push(line), ...deps, ...more });
  let identity = await open();
  let root = await identity.authenticate({ bearer: rootToken, safeMethod: false });
  return {
    clock,
    lines,
    get items() {
      return items;
    },
    get identity() {
      return identity;
    },
    get root() {
      return root;
    },
    by: (bearer) => identity.authenticate({ bearer, safeMethod: false }),
    another: open,
    async restart(more) {
      await identity.close();
      await items.close();
      items = await openItems();
      identity = await open(more);
      root = await identity.authenticate({ bearer: more?.rootToken ?? rootToken, safeMethod: false });
    },
    async [Symbol.asyncDispose]() {
      await identity.close();
      await items.close();
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The same store with some methods replaced; the others stay the real ones. */
export function around(store: ItemStore, replaced: Partial<ItemStore>): ItemStore {
  return new Proxy(store, {
    get(target, name) {
      const own: unknown = Reflect.get(replaced, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
