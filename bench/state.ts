/** npm run bench -- state */
import { report, type Row } from "./lib/report.ts";

/** Each is loaded when its turn comes, and those with peers last: their packages make this process a slow client of the servers. */
const parts: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  workflows: async () => (await import("./state/workflows.ts")).workflowRows(),
  memories: async () => (await import("./state/memories.ts")).memoryRows(),
  series: async () => (await import("./state/series.ts")).seriesRows(),
  peers: async () => (await import("./state/peers.ts")).peerRows(),
  growth: async () => (await import("./state/growth.ts")).growthRows(),
};
/** `STATE_PARTS=workflows,series` for some of them: each has its own file of results, with the commit it was measured at. */
const wanted = process.env["STATE_PARTS"]?.split(",") ?? Object.keys(parts);
/** `STATE_ENGINES=PostgreSQL` for one engine, and a file of its own. */
const only =
  process.env["STATE_ENGINES"] === undefined
    ? ""
    : `-${process.env["STATE_ENGINES"].toLowerCase().replaceAll(",", "-")}`;
for (const [name, part] of Object.entries(parts))
  if (wanted.includes(name)) report(`state-${name}${only}`, await part());
