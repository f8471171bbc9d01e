/** `pinakes fsck`: compares all stores with the records, and puts right what is wrong when asked to. */
import type { AuditReport, Finding, JobView } from "../knowledge/index.ts";
import { defineCommand, failureExitCode, UsageError, type Call, type Group, type Outcome } from "./command.ts";
import { count, grid, inTime } from "./layout.ts";
import { actorOptions, withStores, type ActorOption } from "./session.ts";
import { styled, type Terminal } from "./terminal.ts";
import { waitForJob } from "./wait-for-job.ts";

const command = defineCommand({
  usage: "[repository[/collection]]",
  words: [0, 1],
  summary: "compare all stores with the records, and put right what is wrong",
  details: `Files, passages, triples, counters, versions of vectors, and what had to end. Others may write meanwhile. What may be of work that is
still under way is left for later, and counted as waiting. The exit code is 1 when something is wrong and was not put right.`,
  options: {
    repair: { type: "boolean", help: "put right what is found" },
    deep: { type: "boolean", help: "look at every passage, and read every byte of the vectors" },
    ...actorOptions,
  },
  examples: ["pinakes fsck", "pinakes fsck kb/papers --deep", "pinakes fsck --repair --json"],
  run: (call) =>
    withStores(call, async (session) => {
      const { knowledge, caller } = session;
      const [repository, collection, ...more] = call.words[0]?.split("/") ?? [];
      if (more.length > 0 || repository === "" || collection === "") throw new UsageError(`"${call.words[0]}" names nothing; write kb or kb/papers.`);
      const input = { repository, collection, repair: call.given.has("repair"), deep: call.given.has("deep") };
      const job = await waitForJob(session, await knowledge.audit.fsck(caller, input), call.terminal);
      if (job.status !== "succeeded") return unfinished(call.terminal, job);
      const again = repairingOf(call);
      const report = job.result as unknown as AuditReport;
      const findings = report.truncated ? await knowledge.audit.findings(caller, job.job_id) : report.findings;
      return { answer: { ...report, findings }, show: () => shown(call.terminal, report, findings, again), code: report.left > 0 ? failureExitCode : 0 };
    }),
});

export const fsck: Group = { command };

/** The same place and depth again: what was found there is not found elsewhere, and not by looking less. */
function repairingOf({ words, given }: Call<ActorOption | "deep">): string {
  const [place] = words;
  const workspace = given.text("workspace");
  const options = [...(given.has("deep") ? ["--deep"] : []), ...(workspace === undefined ? [] : [`--workspace ${workspace}`]), "--repair"];
  return ["pinakes fsck", ...(place === undefined ? [] : [place]), ...options].join(" ");
}

function unfinished(terminal: Terminal, job: JobView): Outcome {
  return { answer: job, show: () => styled(terminal, "red", `The audit ${job.status}: ${job.error ?? "see its job"}`), code: failureExitCode };
}

function shown(terminal: Terminal, report: AuditReport, findings: readonly Finding[], repairing: string): string {
  const { checked, summary, found, left, waiting, began_at, finished_at } = report;
  const looked = Object.entries(checked).map(([what, number]) => `${what} ${number.toLocaleString("en-US")}`);
  const lines = [`${inTime(began_at)} to ${inTime(finished_at).slice(11)}: ${looked.join(", ")}.`];
  if (findings.length > 0) lines.push("", grid(terminal, findings.map(row), { whole: ["kind"], optional: ["key"] }));
  if (found > 0) {
    const sums = Object.entries(summary).map(([kind, sum]) => ({ kind, found: sum.found, repaired: sum.repaired }));
    lines.push("", grid(terminal, sums, { whole: ["kind"] }));
  }
  const end = found === 0 ? "Everything is as it should be." : `${count(found, "finding")}, ${left === 0 ? "all put right" : `${left} left`}.`;
  lines.push("", styled(terminal, left === 0 ? "green" : "red", end));
  if (waiting > 0) lines.push(`${count(waiting, "thing")} may be of work that is still under way: look again later.`);
  if (left > 0 && !report.repair) lines.push(`Put it right with: ${repairing}`);
  return lines.join("\n");
}

function row({ kind, store, repository_id = "", collection_id = "", incarnation = "", document_id = "", key = "", detail, repaired }: Finding) {
  const of = collection_id === "" ? repository_id || incarnation : `${repository_id}/${collection_id}`;
  return { kind, store, of, document: document_id, detail, key, repaired: repaired ? "yes" : "" };
}
