/** Attempts on another workspace's state, through every method: the answer is that about what never was, to the letter. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { WorkRegistry } from "../../src/containers/index.ts";
import { makeCaller, type Caller } from "../../src/domain/caller.ts";
import { systemScope } from "../../src/domain/scope.ts";
import type { State } from "../../src/state/index.ts";
import { stateTenant, stateWorkContainer, type StateWorkKind } from "../../src/state/dependencies.ts";
import { openTestPinakes } from "../knowledge/support/test-pinakes.ts";
import { making, onEverything, onThings, withoutCaller, type Attempt, type Target } from "./support/attempts.ts";
import { dumpWorkspace } from "./support/dump-workspace.ts";
import { outcome } from "./support/outcome.ts";
import { fillState, namesOf, newMarker } from "./support/secret-state.ts";
import { forAllTests } from "../support/for-tests.ts";

const [marker, neverMarker, secret] = [newMarker(), newMarker(), newMarker()];
let state: State;
let target: Target;
let never: Target;
let before: readonly string[];
let laterMs = 0;

const test = forAllTests(() =>
  openTestPinakes("sqlite", { background: false, clock: { now: () => Date.now() + laterMs } }),
);
beforeAll(async () => {
  ({ state } = test.pinakes);
  const now = Date.now();
  const etags = await fillState(state, test.admin, namesOf(marker, now), secret, now);
  target = { ...namesOf(marker, now), etags };
  never = { ...namesOf(neverMarker, now), etags };
  before = dumpWorkspace(test.dir, "acme");
});

/** Whatever the names of the things are. */
const tried = async (attempt: Attempt | undefined, caller: Caller, of: Target): Promise<string> =>
  (await outcome(state, attempt, caller, of)).replaceAll(neverMarker, marker);

const attempts = { ...onThings, ...onEverything, ...making };

describe.each([["admin"], ["user"]] as const)("another workspace's %s", (role) => {
  const who = () => test.as("root", { tenant: "other", role });

  it.each(Object.keys(onThings))("R-AGT-09 %s: the answer is that about a thing that never was", async (name) => {
    const real = await tried(onThings[name], who(), target);
    expect(real).toBe(await tried(onThings[name], who(), never));
    expect(real).toMatch(
      role === "user" && ["tools.deleteRule", "metrics.forgetName", "metrics.forgetName of a dimension"].includes(name)
        ? /^FORBIDDEN/
        : /^NOT_FOUND/,
    );
    expect(real).not.toContain(secret);
  });

  it.each(Object.keys(onEverything))("R-AGT-09 %s: no trace of it", async (name) => {
    const real = await tried(onEverything[name], who(), target);
    expect(real).toBe(await tried(onEverything[name], who(), never));
    expect(real).toMatch(/^answered/);
    for (const trace of [secret, "31415", "27182", '"acme"']) expect(real).not.toContain(trace);
  });

  it.each(Object.keys(making))("R-AGT-09 %s: every name is free, and only one's own comes of it", async (name) => {
    const own = test.as("root", { tenant: `fresh-${role}-${name.replaceAll(/[^\w.]/g, "-")}`, role });
    const real = await tried(making[name], own, target);
    expect(real).toMatch(role === "user" && name.startsWith("tools.put") ? /^FORBIDDEN/ : /^answered/);
    expect(real).not.toMatch(/"(failed|duplicates)":[1-9]/);
    for (const trace of [secret, '"acme"']) expect(real).not.toContain(trace);
  });
});

describe("the table", () => {
  it("has every method that there is", () => {
    const methods = (of: object): string[] =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(of)).filter((name) => name !== "constructor");
    expect(methods(state)).toEqual(["as"]);
    const there = Object.entries(state).flatMap(([feature, part]) =>
      methods(part as object)
        .filter((name) => !withoutCaller.includes(name))
        .map((name) => `${feature}.${name}`),
    );
    const known = new Set(Object.keys(attempts).map((name) => name.split(/[ ,]/)[0] as string));
    expect(there.filter((name) => !known.has(name))).toEqual([]);
    expect([...known].filter((name) => !there.includes(name))).toEqual([]);
    expect(there.length).toBeGreaterThan(80);
  });

  it("is not blind: who is of the workspace gets it all from these same attempts", async () => {
    const shown: string[] = [];
    for (const name of [
      "workflows.get",
      "memories.thread",
      "threads.get",
      "systemThreads.get",
      "entities.get",
      "tools.get",
      "containers.read",
      "containers.query",
    ])
      if ((await tried(onThings[name], test.as("ann"), target)).includes(secret)) shown.push(name);
    for (const name of [
      "workflows.list",
      "memories.context",
      "memories.search",
      "threads.list",
      "metrics.list",
      "tools.export",
      "tools.rules",
    ])
      if ((await tried(onEverything[name], test.as("ann"), target)).includes(secret)) shown.push(name);
    expect(shown).toHaveLength(15);
  });
});

describe("without a real caller", () => {
  it("R-AGT-09 every method refuses before any store is asked", async () => {
    const real = test.as("root", { role: "admin" });
    const stores = [test.pinakes.items, test.pinakes.objects].flatMap((store) => spiesOn(store));
    expect(stores.length).toBeGreaterThan(10);
    for (const forged of [
      undefined,
      null,
      {},
      { ...real },
      Object.create(real) as object,
      structuredClone({ userId: "root", role: "admin", groups: [] }),
    ]) {
      for (const [name, attempt] of Object.entries(attempts)) {
        const refused = (async () => attempt(state, forged as unknown as Caller, target))();
        await expect(refused, name).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
      }
      expect(() => state.as(forged as unknown as Caller)).toThrow(
        expect.objectContaining({ code: "UNAUTHENTICATED" }) as Error,
      );
    }
    expect(stores.filter((spy) => spy.mock.calls.length > 0).map((spy) => spy.getMockName())).toEqual([]);
    // The spies do see what a real caller asks for.
    await state.workflows.get(real, target.wid);
    expect(stores.some((spy) => spy.mock.calls.length > 0)).toBe(true);
    vi.restoreAllMocks();
    expect(makeCaller({ tenant: "acme", userId: "x" }).role).toBe("user");
  });
});

function spiesOn(store: object): ReturnType<typeof vi.spyOn>[] {
  const names = new Set([...Object.keys(store), ...Object.getOwnPropertyNames(Object.getPrototypeOf(store))]);
  const methods = [...names].filter((name) => name !== "constructor" && typeof Reflect.get(store, name) === "function");
  return methods.map((name) => vi.spyOn(store as Record<string, () => void>, name).mockName(name));
}

describe("what is due of another workspace", () => {
  it("R-AGT-09 is done there only, also where everything is called the same: expiries, ends of sessions, deleted containers", async () => {
    const other = test.as("eve", { tenant: "rival", role: "admin" });
    await fillState(state, other, target, newMarker(), Date.now());
    const mine = dumpWorkspace(test.dir, "rival").length;
    expect(mine).toBe(before.length);
    await state.containers.delete(other, target.c);
    await state.databases.delete(other, target.base);
    await state.workflows.delete(other, target.wid, { fencingToken: 1 });
    laterMs = 400 * 86_400_000;
    const { items } = test.pinakes;
    const system = systemScope("tests of leaks", () => {});
    const work = new WorkRegistry<StateWorkKind>({ items, system, container: stateWorkContainer, tenant: stateTenant });
    const kinds = new Set<string>();
    for await (const entry of work.due(Date.now() + laterMs)) {
      if (entry.tenant !== "rival") continue;
      kinds.add(entry.kind);
      const worker = {
        workflow: state.workflows,
        session: state.memories,
        container: state.containers,
        seal: entry.key.startsWith("tools") ? state.tools : state.metrics,
      };
      await worker[entry.kind].process(entry);
    }
    expect([...kinds].toSorted()).toEqual(["container", "seal", "session", "workflow"]);
    const left = dumpWorkspace(test.dir, "rival").filter((line) => !line.startsWith("feed"));
    expect(left.filter((line) => line.startsWith("own-"))).toEqual([]);
    expect(left.length).toBeLessThan(mine / 2);
  });
});

describe("after all the attempts", () => {
  it("R-AGT-09 the workspace is as it was, to the last byte of the store", () => {
    expect(before.length).toBeGreaterThan(50);
    expect(dumpWorkspace(test.dir, "acme")).toEqual(before);
  });
});
