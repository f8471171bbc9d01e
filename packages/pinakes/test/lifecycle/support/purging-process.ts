/** Purges a collection, in a process that the test kills. */
import { open } from "../../../src/index.ts";

const [dir, collection] = process.argv.slice(2) as [string, string];
const pinakes = await open({ dir, background: false });
const caller = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
const { job_id } = await pinakes.knowledge.collections.delete(caller, "kb", collection, {
  purge: true,
  confirm: collection,
});
process.stdout.write(`begun ${job_id}\n`);
// Its own work continues until it is killed.
setInterval(() => {}, 1_000);
