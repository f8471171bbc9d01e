/** Search parameters of the graph page. */
import type { TriplePattern } from "../../api/graph.ts";
import { flagParam, listParam, oneOfParam, textParam } from "../../lib/search-params.ts";

const graphTabs = ["explore", "pattern", "sparql"] as const;
/** Keeps the graph readable and the URL short. */
export const expandedMax = 12;

export interface GraphSearch extends TriplePattern {
  /** The collection. */
  readonly in?: string | undefined;
  readonly tab?: (typeof graphTabs)[number] | undefined;
  /** The entity search text. */
  readonly find?: string | undefined;
  /** The selected entity, and the expanded ones. */
  readonly focus?: string | undefined;
  readonly open?: readonly string[] | undefined;
  readonly sparql?: string | undefined;
  readonly union?: true | undefined;
  /** The triple whose sources are shown. */
  readonly triple?: TriplePattern | undefined;
}

export function readGraphSearch(search: Readonly<Record<string, unknown>>): GraphSearch {
  const triple = search["triple"];
  return {
    in: textParam(search["in"]),
    tab: oneOfParam(search["tab"], graphTabs),
    find: textParam(search["find"]),
    focus: textParam(search["focus"]),
    open: listParam(search["open"])?.slice(0, expandedMax),
    ...readPattern(search),
    sparql: textParam(search["sparql"]),
    union: flagParam(search["union"]),
    triple: typeof triple === "object" && triple !== null ? readPattern(triple as Record<string, unknown>) : undefined,
  };
}

function readPattern(search: Readonly<Record<string, unknown>>): TriplePattern {
  return { s: textParam(search["s"]), p: textParam(search["p"]), o: textParam(search["o"]), g: textParam(search["g"]) };
}
