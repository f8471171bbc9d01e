/** Opens the containers of state and composes its features. */
import { randomBytes } from "node:crypto";
import { WorkRegistry, workContainer, type RegisteredWork } from "../containers/index.ts";
import { hasCode, PinakesError } from "../domain/errors.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { Scope } from "../domain/scope.ts";
import { Containers } from "./containers/containers.ts";
import { Databases } from "./databases/databases.ts";
import { Memories } from "./memories/memories.ts";
import { stateTenant, stateWorkContainer, type StateDependencies, type StateWorkKind } from "./dependencies.ts";
import { StateErasure } from "./erasure/state-erasure.ts";
import { Metrics } from "./series/metrics.ts";
import { toolInvocations } from "./series/tool-document.ts";
import { ToolLog } from "./series/tool-log.ts";
import { settingsContainer } from "./settings.ts";
import { State } from "./state.ts";
import { Telemetry } from "./telemetry/telemetry.ts";
import { Entities } from "./threads/entities.ts";
import { systemThreadStore, threadStore } from "./threads/thread-stores.ts";
import { Threads } from "./threads/threads.ts";
import { Workflows } from "./workflows/workflows.ts";

export interface OpenedState {
  readonly state: State;
  /** Operations of erasures on agents' state. */
  readonly erasure: StateErasure;
  /** Processes due work of all tenants. */
  sweep(signal: AbortSignal): Promise<void>;
}

export type OpenStateOptions = Omit<StateDependencies, "work" | "signingKey">;

export async function openState(options: OpenStateOptions): Promise<OpenedState> {
  const { items, system } = options;
  await items.openContainer(workContainer(stateWorkContainer));
  await items.openContainer(settingsContainer);
  const work = new WorkRegistry<StateWorkKind>({ items, system, container: stateWorkContainer, tenant: stateTenant });
  const deps: StateDependencies = {
    ...options,
    work,
    signingKey: await signingKey(items, system.forTenant(stateTenant)),
  };
  const metrics = new Metrics(deps);
  const tools = new ToolLog(deps);
  const containers = new Containers(deps);
  containers.createThrough(toolInvocations.definition.name, (caller, document) => tools.create(caller, document));
  const features = {
    workflows: new Workflows(deps),
    memories: new Memories(deps),
    threads: new Threads(deps, threadStore),
    systemThreads: new Threads(deps, systemThreadStore),
    entities: new Entities(deps),
    metrics,
    tools,
    containers,
    databases: new Databases(deps, containers),
    telemetry: new Telemetry(deps, { metrics, tools }),
  };
  for (const feature of Object.values(features)) await feature.open();
  const state = new State(features);
  return { state, erasure: new StateErasure(deps), sweep: (signal) => sweep(deps, state, signal) };
}

/** Sequentially; failed work stays in the registry, is reported, and retried. */
async function sweep({ work, clock, log }: StateDependencies, state: State, signal: AbortSignal): Promise<void> {
  const seal = {
    process: (entry: RegisteredWork) =>
      (entry.data?.["series"] === "tools" ? state.tools : state.metrics).process(entry),
  };
  const workers = { workflow: state.workflows, session: state.memories, seal, container: state.containers } as const;
  let failed = 0;
  for await (const entry of work.due(clock.now())) {
    if (signal.aborted) return;
    try {
      await workers[entry.kind].process(entry);
    } catch (error) {
      log(`state: ${entry.kind} ${entry.key} of ${entry.tenant}: ${String(error)}`);
      failed += 1;
    }
  }
  if (failed > 0)
    throw new PinakesError(
      "UNAVAILABLE",
      `${failed} pieces of work on agents' state failed and will be retried; see the log for the reasons.`,
    );
}

const keyBytes = 32;

/** Created once, by the first process. */
async function signingKey(items: ItemStore, scope: Scope): Promise<Uint8Array> {
  const key = { partition: ["keys"], id: "cursors" };
  const stored = await items.read(scope, settingsContainer.name, key);
  if (stored !== undefined) return Buffer.from(stored.document["key"] as string, "base64");
  const made = randomBytes(keyBytes);
  try {
    const document = { id: key.id, topic: "keys", key: made.toString("base64") };
    await items.write(scope, settingsContainer.name, key.partition, { op: "create", document });
    return made;
  } catch (error) {
    if (hasCode(error, "CONFLICT")) return signingKey(items, scope);
    throw error;
  }
}
