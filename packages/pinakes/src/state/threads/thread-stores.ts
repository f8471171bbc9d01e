/** Legacy containers: documents of any schema, by thread or by agent. Items expire only by their own `ttl`. */
import type { ContainerDefinition } from "../../ports/item-store.ts";
import type { SystemContainer } from "../system-container.ts";

const thread = (name: string): ContainerDefinition => ({
  name,
  partitionKey: ["threadId"],
  indexes: {
    bySequence: { partition: ["threadId"], sort: ["sequence"] },
    // Documents of any schema share only their thread, so companions are in it too.
    all: { partition: [], sort: ["threadId", "sequence"] },
  },
  ttl: -1,
  feed: true,
});

export const threadStore = thread("thread-message-store");
export const systemThreadStore = thread("system-thread-message-store");
export const entityStore: ContainerDefinition = {
  name: "agent-entity-store",
  partitionKey: ["agentId"],
  indexes: { all: { partition: [], sort: ["agentId"] } },
  ttl: -1,
  feed: true,
};

export const threadMessages: SystemContainer = {
  definition: threadStore,
  schema: null,
  policy: null,
  scanIndex: "all",
};
export const systemThreadMessages: SystemContainer = {
  definition: systemThreadStore,
  schema: null,
  policy: null,
  scanIndex: "all",
};
export const agentEntities: SystemContainer = { definition: entityStore, schema: null, policy: null, scanIndex: "all" };
