import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { numberParam, oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

const documentTabs = ["text", "chunks", "triples", "versions", "metadata"] as const;

interface DocumentSearch {
  readonly tab?: (typeof documentTabs)[number] | undefined;
  /** The selected chunk … */
  readonly chunk?: string | undefined;
  /** … or range, in UTF-16 code units. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** The query whose words are highlighted. */
  readonly q?: string | undefined;
}

export const documentRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/collections/$rid/$cid/documents/$did",
    validateSearch: (search: Record<string, unknown>): DocumentSearch => ({
      tab: oneOfParam(search["tab"], documentTabs),
      chunk: textParam(search["chunk"]),
      start: numberParam(search["start"]),
      end: numberParam(search["end"]),
      q: textParam(search["q"]),
    }),
    component: lazyPage(async () => (await import("./document-page.tsx")).DocumentPage),
  }),
] as const;
