/** npm run bench -- erasure; ERASURE_MEMORIES=10000 ERASURE_DOCUMENTS=1000 for a quick look, ERASURE_ENGINES=SQLite for one engine */
import { engines } from "./deletes/server.ts";
import { erasureRows } from "./erasure/measure.ts";
import { report, type Row } from "./lib/report.ts";

const wanted = process.env["ERASURE_ENGINES"]?.split(",") ?? engines;
const chosen = engines.filter((engine) => wanted.includes(engine));
if (chosen.length !== wanted.length)
  throw new Error(`ERASURE_ENGINES must be some of ${engines.join(",")}, got ${wanted.join(",")}.`);
const rows: Row[] = [];
for (const engine of chosen) rows.push(...(await erasureRows(engine)));
report("erasure", rows);
