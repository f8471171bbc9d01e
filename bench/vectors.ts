/**
 * npm run bench -- vectors: search against usearch, LanceDB, Qdrant, pgvector and FTS5, then our own bars. VECTORS_SETS=clustered leaves
 * out the hard set; VECTORS_FULL=1 adds a million rows, which takes many minutes. Details of every candidate are printed before the table
 * of bars.
 */
import { report, type Row } from "./lib/report.ts";
import { measureBandwidth } from "./vectors/bandwidth.ts";
import { peerRows, textRows } from "./vectors/ratios.ts";
import { coldRows } from "./vectors/cold.ts";
import { exactRows } from "./vectors/exact.ts";
import { idleRows } from "./vectors/idle.ts";
import { streamRows } from "./vectors/stream.ts";
import { scifactRows } from "./vectors/scifact.ts";

const rows: Row[] = [];
for (const { threads, medianGigabytesPerSecond } of await measureBandwidth())
  rows.push({
    name: `memory read, ${threads} thread(s)`,
    value: medianGigabytesPerSecond,
    unit: "GB/s",
    bar: null,
    note: "the floor of every exact scan, measured now",
  });
const bandwidth = rows[0]?.value ?? 1;
const sets = (process.env["VECTORS_SETS"] ?? "clustered,hard").split(",");
for (const set of ["clustered", "hard"] as const) if (sets.includes(set)) rows.push(...(await peerRows(set, "100k")));
rows.push(...(await textRows()));
rows.push(
  ...(await exactRows(bandwidth)),
  ...(await coldRows()),
  ...(await streamRows()),
  ...(await idleRows()),
  ...(await scifactRows()),
);
if (process.env["VECTORS_FULL"] === "1") rows.push(...(await peerRows("clustered", "1m")));
report("vectors", rows);
