/** The system containers that the containers API exposes, each with the rules of its feature. */
import { agentMemories } from "./memories/agent-memories.ts";
import { agentMetrics } from "./series/metric-document.ts";
import { toolInvocations } from "./series/tool-document.ts";
import type { SystemContainer } from "./system-container.ts";
import { agentEntities, systemThreadMessages, threadMessages } from "./threads/thread-stores.ts";
import { workflowStates } from "./workflows/workflow-states.ts";

export const systemContainers: readonly SystemContainer[] = [
  workflowStates,
  agentMemories,
  agentMetrics,
  toolInvocations,
  threadMessages,
  systemThreadMessages,
  agentEntities,
];

/** The declared default times to live; a workspace may have its own. */
export const systemContainerTtls: ReadonlyMap<string, number | null> = new Map(
  systemContainers.map(({ definition }) => [definition.name, definition.ttl ?? null]),
);
