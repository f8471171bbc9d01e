/** Containers over one item store, with a clock that is moved by hand, and one container of the system made for these tests. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { WorkRegistry, timestamp, workContainer } from "../../src/containers/index.ts";
import { makeCaller, type Caller } from "../../src/domain/caller.ts";
import { invalid } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { systemScope } from "../../src/domain/scope.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import { Containers } from "../../src/state/containers/containers.ts";
import {
  stateTenant,
  stateWorkContainer,
  type StateDependencies,
  type StateWorkKind,
} from "../../src/state/dependencies.ts";
import { settingsContainer } from "../../src/state/settings.ts";
import { companionField, type SystemContainer } from "../../src/state/system-container.ts";
import type { ManualClock } from "../../src/testing/item-store/fixture.ts";

/** A container with a schema, a rule that looks at what is stored, and a companion that counts writes. */
export const tasks: SystemContainer = {
  definition: {
    name: "test-tasks",
    partitionKey: ["list"],
    indexes: {
      byTime: { partition: ["workspace_id"], sort: ["created_at"] },
      byState: { partition: ["list"], sort: ["state"] },
    },
    ttl: -1,
    feed: true,
  },
  schema: z.looseObject({
    id: z.string(),
    list: z.string(),
    workspace_id: z.string(),
    state: z.enum(["open", "done"]),
    created_at: timestamp(),
  }),
  policy: {
    includedPaths: [{ path: "/list/?" }, { path: "/workspace_id/?" }, { path: "/state/?" }, { path: "/created_at/?" }],
    excludedPaths: [{ path: "/_etag/?" }, { path: "/notes/*/text/*" }],
  },
  scanIndex: "byTime",
  prepare: ({ before, document, now }) => {
    const whole: JsonObject = { created_at: new Date(now).toISOString(), state: "open", ...document };
    const checked = tasks.schema?.safeParse(whole);
    if (checked?.success === false)
      throw invalid(checked.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
    if (before?.["state"] === "done" && whole["state"] === "open") throw invalid("state: what is done stays done.");
    return { ...whole, pinakes_seen: ((before?.["pinakes_seen"] as number | undefined) ?? 0) + 1 };
  },
  companions: (operations) => {
    const list = operations.flatMap((operation) =>
      "document" in operation ? [operation.document["list"] as string] : [],
    )[0];
    const changes = operations.some(({ op }) => op !== "check");
    if (list !== undefined)
      return [{ op: "upsert", document: { id: "~tally", list, [companionField]: "tally", state: "open" } }];
    return changes ? [{ op: "patch", id: "~tally", patch: [{ op: "incr", path: "/removed", value: 1 }] }] : [];
  },
};

export const log: SystemContainer = {
  definition: {
    name: "test-log",
    partitionKey: ["day"],
    indexes: { all: { partition: [], sort: ["id"] } },
    feed: true,
  },
  schema: null,
  policy: null,
  appendOnly: "Entries of the log are only added.",
  scanIndex: "all",
};

export interface ContainersFixture {
  readonly items: ItemStore;
  readonly clock: ManualClock;
  readonly parts: StateDependencies;
  readonly containers: Containers;
  readonly user: Caller;
  readonly admin: Caller;
  readonly stranger: Caller;
  /** The same stores in another process. */
  another(items?: ItemStore): Promise<ContainersFixture>;
  /** Does what is due. */
  sweep(): Promise<number>;
}

export async function openContainers(items: ItemStore, clock: ManualClock): Promise<ContainersFixture> {
  const system = systemScope("tests of containers", () => {});
  for (const { definition } of [tasks, log]) await items.openContainer(definition);
  await items.openContainer(settingsContainer);
  await items.openContainer(workContainer(stateWorkContainer));
  const work = new WorkRegistry<StateWorkKind>({ items, system, container: stateWorkContainer, tenant: stateTenant });
  const used: Omit<StateDependencies, "objects" | "vectors" | "embedder"> = {
    items,
    clock,
    log: () => {},
    system,
    work,
    newId: randomUUID,
    signingKey: Buffer.alloc(32, 7),
  };
  // Containers use neither objects nor vectors.
  const parts = used as StateDependencies;
  const containers = new Containers(parts, [tasks, log]);
  await containers.open();
  return {
    items,
    clock,
    parts,
    containers,
    user: makeCaller({ tenant: "acme", userId: "ann" }),
    admin: makeCaller({ tenant: "acme", userId: "root", role: "admin" }),
    stranger: makeCaller({ tenant: "other", userId: "eve", role: "admin" }),
    another: (store = items) => openContainers(store, clock),
    sweep: async () => {
      let count = 0;
      for await (const entry of work.due(clock.now())) {
        await containers.process(entry);
        count += 1;
      }
      return count;
    },
  };
}
