/** npm run bench -- knowledge */
import { accessRows } from "./knowledge/access.ts";
import { collectionRows } from "./knowledge/collections.ts";
import { ingestRows } from "./knowledge/ingest.ts";
import { searchRows } from "./knowledge/search.ts";
import { report } from "./lib/report.ts";

report("knowledge", [
  ...(await collectionRows()),
  ...(await ingestRows()),
  ...(await searchRows()),
  ...(await accessRows()),
]);
