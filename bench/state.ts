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
const wanted = process.env["STATE_PARTS"]?.split(",") ?? Object.keys(parts);
const rows: Row[] = [];
for (const [name, part] of Object.entries(parts)) {
  if (!wanted.includes(name)) continue;
  rows.push(...(await part()));
  // What is done is kept, whatever becomes of the rest.
  report("state", rows);
}
