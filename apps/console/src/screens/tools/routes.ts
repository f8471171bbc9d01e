import { type ToolStatus, toolStatuses } from "@pinakes/client";
import { createRoute } from "@tanstack/react-router";
import { toolGroups, type ToolGroup } from "../../api/tool-log.ts";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";
import { rangeSearch, type RangeSearch } from "../metrics/range.ts";

export const toolTabs = ["log", "figures", "proof"] as const;
export const toolMeasures = ["count", "avg", "p50", "p95", "p99", "max"] as const;
export type ToolMeasure = (typeof toolMeasures)[number];

export interface ToolSearch extends RangeSearch {
  readonly tab?: (typeof toolTabs)[number] | undefined;
  readonly tool?: string | undefined;
  readonly agent?: string | undefined;
  readonly status?: ToolStatus | undefined;
  readonly measure?: ToolMeasure | undefined;
  readonly group?: ToolGroup | undefined;
  /** Day and id of the open invocation. */
  readonly day?: string | undefined;
  readonly call?: string | undefined;
}

export const toolRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/tools",
    validateSearch: (search: Record<string, unknown>): ToolSearch => ({
      ...rangeSearch(search),
      tab: oneOfParam(search["tab"], toolTabs),
      tool: textParam(search["tool"]),
      agent: textParam(search["agent"]),
      status: oneOfParam(search["status"], toolStatuses),
      measure: oneOfParam(search["measure"], toolMeasures),
      group: oneOfParam(search["group"], toolGroups),
      day: textParam(search["day"]),
      call: textParam(search["call"]),
    }),
    component: lazyPage(async () => (await import("./tools-page.tsx")).ToolsPage),
  }),
] as const;
