/** Workflows alone on a store, with time moved by hand, and every call to the stores in the test's hands where it wants that. */
import { randomBytes, randomUUID } from "node:crypto";
import type { NewWorkflow } from "@pinakes/client";
import { WorkRegistry, workContainer } from "../../src/containers/index.ts";
import { makeCaller, type Caller } from "../../src/domain/caller.ts";
import { systemScope } from "../../src/domain/scope.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../src/drivers/memory-objects/index.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import type { ObjectStore } from "../../src/ports/object-store.ts";
import {
  stateTenant,
  stateWorkContainer,
  type StateDependencies,
  type StateWorkKind,
} from "../../src/state/dependencies.ts";
import { workflowLimits } from "../../src/state/workflows/limits.ts";
import { Workflows } from "../../src/state/workflows/workflows.ts";
import { ManualClock } from "../../src/testing/item-store/fixture.ts";
import { watchedBy } from "../support/watched.ts";
import { Calls } from "../vectors/support/calls.ts";
import { everyItem } from "../../src/containers/every-item.ts";

export const ann: Caller = makeCaller({ tenant: "acme", userId: "ann" });
export const eve: Caller = makeCaller({ tenant: "evil", userId: "eve", role: "admin" });

export interface World {
  readonly clock: ManualClock;
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly lines: string[];
  process(): Promise<Process>;
}

export interface Process {
  readonly workflows: Workflows;
  readonly parts: StateDependencies;
  readonly calls: Calls;
  /** Does what is due now; tells how many entries there were. */
  sweep(): Promise<number>;
}

const signingKey = randomBytes(32);

/** Stores that outlive the processes over them. */
export async function openWorld(
  stores: { readonly items?: ItemStore; readonly objects?: ObjectStore; readonly clock?: ManualClock } = {},
): Promise<World> {
  const clock = stores.clock ?? new ManualClock();
  const items = stores.items ?? (await openMemoryItems({ clock }));
  const objects = stores.objects ?? openMemoryObjects({ clock });
  const lines: string[] = [];
  await items.openContainer(workContainer(stateWorkContainer));
  return { clock, items, objects, lines, process: () => openProcess({ clock, items, objects, lines }) };
}

async function openProcess({ clock, items: store, objects: blobs, lines }: Omit<World, "process">): Promise<Process> {
  const calls = new Calls();
  const items = watched(store, calls);
  const system = systemScope("tests of workflows", () => {});
  const work = new WorkRegistry<StateWorkKind>({ items, system, container: stateWorkContainer, tenant: stateTenant });
  const log = (line: string): void => void lines.push(line);
  const unused = undefined as never;
  const objects = watched(blobs, calls);
  const parts: StateDependencies = {
    items,
    objects,
    vectors: unused,
    embedder: undefined,
    clock,
    log,
    system,
    work,
    newId: randomUUID,
    signingKey,
  };
  const workflows = new Workflows(parts);
  await workflows.open();
  calls.names.length = 0;
  const sweep = async (): Promise<number> => {
    const due = await Array.fromAsync(work.due(clock.now()));
    for (const entry of due) await workflows.process(entry);
    return due.length;
  };
  return { workflows, parts, calls, sweep };
}

function watched<Port extends object>(port: Port, calls: Calls): Port {
  return watchedBy(port, { calls, nameOf: (method, given) => `${method} ${String(given[1])}` });
}

export const minute = 60_000;
export const day = 86_400_000;

export const some = (more: Partial<NewWorkflow> = {}): NewWorkflow => ({
  type: "sequential",
  name: "Build",
  total_steps: 4,
  ...more,
});
/** With more steps than a test has checkpoints. */
export const long = (more: Partial<NewWorkflow> = {}): NewWorkflow =>
  some({ total_steps: workflowLimits.checkpointStepMax, ...more });

/** So many bytes of text, different for each number. */
export const blob = (bytes: number, n = 0): string => `${n}:`.padEnd(bytes, "x");

/** The ids of everything in the partition of a workflow. */
export async function idsOf({ items }: Pick<World, "items">, workflowId: string, caller = ann): Promise<string[]> {
  return Array.fromAsync(
    everyItem(items, caller.scope, "workflow-states", { equals: { workflow_id: workflowId } }),
    ({ id }) => id,
  );
}

/** The example of the source document, in its words. */
export const example = `{
  "id": "550e8400-e29b-41d4-a716-446655440001",
  "workflow_id": "workflow-123",
  "workspace_id": "ws-tenant-001",
  "type": "sequential",
  "name": "API Development Workflow",
  "description": "Design, implement, and test REST API endpoints",
  "status": "in_progress",
  "current_step": 2,
  "total_steps": 4,
  "agents": [
    {
      "agent_id": "architect-001",
      "agent_name": "System Architect",
      "status": "completed",
      "started_at": "2025-10-07T10:00:00Z",
      "completed_at": "2025-10-07T10:05:30Z",
      "duration_ms": 330000,
      "result": {
        "output": {
          "api_design": {
            "endpoints": ["/api/users", "/api/products"],
            "auth_method": "JWT"
          }
        },
        "tool_calls": [],
        "token_usage": {
          "prompt_tokens": 1500,
          "completion_tokens": 800,
          "total_tokens": 2300
        },
        "error": null
      }
    },
    {
      "agent_id": "developer-002",
      "agent_name": "Backend Developer",
      "status": "in_progress",
      "started_at": "2025-10-07T10:05:35Z",
      "completed_at": null,
      "duration_ms": null,
      "result": null
    }
  ],
  "checkpoints": [
    {
      "step": 0,
      "timestamp": "2025-10-07T10:00:00Z",
      "state": {
        "initialized": true,
        "agents_loaded": true
      },
      "agent_context": {}
    },
    {
      "step": 1,
      "timestamp": "2025-10-07T10:05:30Z",
      "state": {
        "architect_output": "..."
      },
      "agent_context": {
        "architect-001": {
          "conversation_id": "conv-123"
        }
      }
    }
  ],
  "metadata": {
    "created_by": "user-456",
    "tags": ["api-development", "backend"],
    "priority": 5,
    "retry_count": 0,
    "max_retries": 3,
    "timeout_seconds": 3600,
    "environment": "production"
  },
  "performance_metrics": {
    "total_duration_ms": 0,
    "queue_time_ms": 1200,
    "execution_time_ms": 330000,
    "avg_step_duration_ms": 165000,
    "total_cost_usd": 0.046
  },
  "error_details": null,
  "created_at": "2025-10-07T09:59:58Z",
  "updated_at": "2025-10-07T10:05:35Z",
  "completed_at": null,
  "ttl": 2592000
}`;
