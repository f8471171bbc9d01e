import { contextStrategies, type ContextStrategy, type MemorySearchMode } from "@pinakes/client";
import { createRoute } from "@tanstack/react-router";
import { memorySearchModes } from "../../api/memories.ts";
import { shellRoute } from "../../app/root-route.tsx";
import { numberParam, oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

export interface MemorySearch {
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  /** The message with the open thread. */
  readonly message?: string | undefined;
  readonly q?: string | undefined;
  readonly mode?: MemorySearchMode | undefined;
  readonly tokens?: number | undefined;
  readonly strategy?: ContextStrategy | undefined;
}

export const memoryRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/memories",
    validateSearch: (search: Record<string, unknown>): MemorySearch => ({
      agent: textParam(search["agent"]),
      session: textParam(search["session"]),
      message: textParam(search["message"]),
      q: textParam(search["q"]),
      mode: oneOfParam(search["mode"], memorySearchModes),
      tokens: numberParam(search["tokens"]),
      strategy: oneOfParam(search["strategy"], contextStrategies),
    }),
    component: lazyPage(async () => (await import("./memories-page.tsx")).MemoriesPage),
  }),
] as const;
