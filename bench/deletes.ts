/** npm run bench -- deletes; DELETES_CHUNKS=2000 for a quick look, DELETES_ENGINES=SQLite for one engine */
import { deleteRows } from "./deletes/measure.ts";
import { engines } from "./deletes/server.ts";
import { report, type Row } from "./lib/report.ts";

const wanted = process.env["DELETES_ENGINES"]?.split(",") ?? engines;
const chosen = engines.filter((engine) => wanted.includes(engine));
if (chosen.length !== wanted.length)
  throw new Error(`DELETES_ENGINES must be some of ${engines.join(",")}, got ${wanted.join(",")}.`);
const rows: Row[] = [];
for (const engine of chosen) rows.push(...(await deleteRows(engine)));
report("deletes", rows);
