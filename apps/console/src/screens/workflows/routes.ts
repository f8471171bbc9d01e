import { type WorkflowStatus, type WorkflowType, workflowTypes } from "@pinakes/client";
import { createRoute } from "@tanstack/react-router";
import { workflowStatuses } from "../../api/workflows.ts";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

interface ListSearch {
  readonly status?: WorkflowStatus | undefined;
  readonly type?: WorkflowType | undefined;
  readonly order?: "asc" | undefined;
}

export const workflowTabs = ["timeline", "checkpoints", "events"] as const;

interface OneSearch {
  readonly tab?: (typeof workflowTabs)[number] | undefined;
  /** Step and time of the open checkpoint. */
  readonly checkpoint?: string | undefined;
  readonly agent?: string | undefined;
}

export const workflowRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/workflows",
    validateSearch: (search: Record<string, unknown>): ListSearch => ({
      status: oneOfParam(search["status"], workflowStatuses),
      type: oneOfParam(search["type"], workflowTypes),
      order: oneOfParam(search["order"], ["asc"]),
    }),
    component: lazyPage(async () => (await import("./workflows-page.tsx")).WorkflowsPage),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/workflows/$wid",
    validateSearch: (search: Record<string, unknown>): OneSearch => ({
      tab: oneOfParam(search["tab"], workflowTabs),
      checkpoint: textParam(search["checkpoint"]),
      agent: textParam(search["agent"]),
    }),
    component: lazyPage(async () => (await import("./workflow-page.tsx")).WorkflowPage),
  }),
] as const;
