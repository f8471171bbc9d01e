/** The container of workflows as the item store sees it. */
import type { ContainerDefinition } from "../../ports/item-store.ts";

export const containerName = "workflow-states";
/** 30 days. */
const defaultTtlSeconds = 2_592_000;

const workspace = ["workspace_id"] as const;

/** Checkpoints are items of the workspace too, without a status, a type or a time of creation: they come last in these orders. */
export const definition = Object.freeze({
  name: containerName,
  partitionKey: ["workflow_id"],
  ttl: defaultTtlSeconds,
  feed: true,
  indexes: {
    byStatus: { partition: workspace, sort: ["status", { path: "created_at", order: "desc" }] },
    byType: { partition: workspace, sort: ["type", { path: "updated_at", order: "desc" }] },
    byCreated: { partition: workspace, sort: [{ path: "created_at", order: "desc" }] },
    byUpdated: { partition: workspace, sort: [{ path: "updated_at", order: "desc" }] },
    byStep: { partition: workspace, sort: ["current_step"] },
  },
} as const satisfies ContainerDefinition);
