/** npm run bench -- state */
import { report } from "./lib/report.ts";
import { growthRows } from "./state/growth.ts";
import { memoryRows } from "./state/memories.ts";
import { peerRows } from "./state/peers.ts";
import { seriesRows } from "./state/series.ts";
import { workflowRows } from "./state/workflows.ts";

const parts = { peers: peerRows, growth: growthRows, workflows: workflowRows, memories: memoryRows, series: seriesRows };
const wanted = process.env["STATE_PARTS"]?.split(",") ?? Object.keys(parts);
const rows = [];
for (const [name, part] of Object.entries(parts)) {
  if (!wanted.includes(name)) continue;
  rows.push(...(await part()));
  // What is done is kept, whatever becomes of the rest.
  report("state", rows);
}
