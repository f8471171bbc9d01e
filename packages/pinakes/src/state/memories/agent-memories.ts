/** The container of memories: partition, time to live, indexes, and the rules that also hold for writes through the containers API. */
import { days } from "../../containers/index.ts";
import { invalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { ContainerDefinition } from "../../ports/item-store.ts";
import { refuseMisplaced } from "../misplaced.ts";
import type { GenericWrite, SystemContainer } from "../system-container.ts";
import { completeMemory, memoriesContainer, memoryFields, memorySchema, orderField, ownFields } from "./schema.ts";

export const memoriesTtlSeconds = days(90);

/** Messages with the same timestamp are ordered by this sequence: ids, which callers may choose, are not ordered. */
const definition: ContainerDefinition = {
  name: memoriesContainer,
  partitionKey: ["agent_id"],
  indexes: {
    bySession: { partition: ["agent_id"], sort: ["session_id", "timestamp", orderField] },
    byRelevance: {
      partition: ["workspace_id", "agent_id"],
      sort: [
        { path: "relevance_score", order: "desc" },
        { path: "timestamp", order: "desc" },
        { path: orderField, order: "desc" },
      ],
    },
    byType: { partition: ["agent_id"], sort: ["message_type", "timestamp", orderField] },
    byParent: { partition: ["agent_id"], sort: ["parent_message_id", "timestamp", orderField] },
    // Every message of the workspace; companions have no workspace_id. Ordered by agent and time, for lists of an agent.
    all: { partition: ["workspace_id"], sort: ["agent_id", "timestamp", orderField] },
  },
  ttl: memoriesTtlSeconds,
  feed: true,
};

export const agentMemories: SystemContainer = {
  definition,
  schema: memorySchema,
  policy: {
    indexingMode: "consistent",
    automatic: true,
    includedPaths: [
      { path: "/agent_id/?" },
      { path: "/session_id/?" },
      { path: "/workspace_id/?" },
      { path: "/message_type/?" },
      { path: "/timestamp/?" },
      { path: "/relevance_score/?" },
    ],
    excludedPaths: [{ path: "/_etag/?" }, { path: "/content/?" }, { path: "/metadata/tool_result/?" }],
    compositeIndexes: [
      [
        { path: "/agent_id", order: "ascending" },
        { path: "/session_id", order: "ascending" },
        { path: "/timestamp", order: "ascending" },
      ],
      [
        { path: "/workspace_id", order: "ascending" },
        { path: "/agent_id", order: "ascending" },
        { path: "/relevance_score", order: "descending" },
      ],
    ],
  },
  scanIndex: "all",
  prepare: prepareMemory,
};

/** A write through the containers API: the same message, except for invariants that only the memories API maintains. */
function prepareMemory({ caller, before, document, now }: GenericWrite): JsonObject {
  if (before === undefined) refuseMisplaced(document, memoryFields);
  const complete = completeMemory(document, { tenant: caller.scope.tenant, now });
  const kept = Object.fromEntries(
    ownFields.flatMap((name) => (before?.[name] === undefined ? [] : [[name, before[name]] as const])),
  );
  if (complete["ttl_unit"] !== before?.["ttl_unit"])
    throw invalid(
      "ttl_unit: whether a session expires as a whole is decided by its first message; append that through the memories API.",
    );
  if (before?.["ttl_unit"] === "session" && (complete["ttl"] !== -1 || complete["session_id"] !== before["session_id"]))
    throw invalid("ttl, session_id: this message expires with its session, so neither can be changed.");
  return { ...complete, ...(before === undefined ? { [orderField]: now * 1_000 } : {}), ...kept };
}
