/** npm run bench -- facades: what calls of the facades cost beside the `/v1` calls that they translate to, in turns on one server. */
import { catalogRows } from "./facades/catalogs.ts";
import { cosmosRows } from "./facades/cosmos.ts";
import { lisaRows } from "./facades/lisa.ts";
import { mcpRows } from "./facades/mcp.ts";
import { openAiRows } from "./facades/openai.ts";
import { trustGraphRows } from "./facades/trustgraph.ts";
import { report, type Row } from "./lib/report.ts";

/** One entry per facade; each starts a server of its own. */
const facades: readonly (() => Promise<readonly Row[]>)[] = [
  openAiRows,
  mcpRows,
  catalogRows,
  cosmosRows,
  lisaRows,
  trustGraphRows,
];

const rows: Row[] = [];
for (const run of facades) rows.push(...(await run()));
report("facades", rows);
