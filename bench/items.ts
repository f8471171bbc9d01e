/** npm run bench -- items */
import { loadRows } from "./items/load.ts";
import { peerRows } from "./items/peers.ts";
import { sqliteRows } from "./items/sqlite.ts";
import { report } from "./lib/report.ts";

report("items", [...(await sqliteRows()), ...(await peerRows()), ...(await loadRows())]);
