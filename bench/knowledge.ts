/** npm run bench -- knowledge */
import { ingestRows } from "./knowledge/ingest.ts";
import { searchRows } from "./knowledge/search.ts";
import { report } from "./lib/report.ts";

report("knowledge", [...(await ingestRows()), ...(await searchRows())]);
