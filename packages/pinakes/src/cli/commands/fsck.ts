/** `pinakes fsck`: compares all stores with the records, and repairs differences on request. */
import type { AuditReport, Finding, JobView } from "../../knowledge/index.ts";
import {
  defineCommand,
  failureExitCode,
  UsageError,
  type Call,
  type Group,
  type Outcome,
} from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { count, grid, inTime } from "../terminal/layout.ts";
import { actorOptions, withStores, type ActorOption } from "../session.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";
import { waitForJob } from "./wait-for-job.ts";

/** The repair for each kind of finding. */
const repairs: Readonly<Record<Finding["kind"], string>> = {
  record_without_object: "extract the text again; if the bytes are missing, only mark the document",
  bytes_returned: "unmark the document",
  object_without_record: "move the file to the quarantine",
  vectors_without_document: "move the chunks to the quarantine",
  document_without_vectors: "index the document again; without the bytes mark it",
  triples_without_support_source: "move the source, and triples that only it supports, to the quarantine",
  counter_off: "set the counter",
  manifest_broken: "rebuild the chunks, if the bytes of all documents exist",
  unknown_incarnation: "move it to the quarantine after it was unknown for a day",
  stuck_operation: "carry it on",
  removal_left: "remove it, as requested",
};

const command = defineCommand({
  usage: "[repository[/collection]]",
  words: [0, 1],
  summary: "compare all stores with the records, and repair differences",
  details: `Checks files, passages, triples, counters, versions of vectors, and unfinished deletes. Writes may continue meanwhile. Findings that may belong to work
in progress are deferred, and counted as waiting. Documents whose bytes are missing are marked, and restored by a later --repair
once the bytes are back. Removed data is kept in the quarantine: see pinakes quarantine. The exit code is 1 if findings remain.`,
  options: {
    repair: { type: "boolean", help: "show the repairs, ask, and execute them" },
    "dry-run": { type: "boolean", help: "only show what --repair would do" },
    yes: yesOption,
    "force-missing": {
      type: "boolean",
      help: "repair even if most of a collection seems missing; refused otherwise",
    },
    deep: { type: "boolean", help: "check every chunk, and read every byte of the vectors" },
    ...actorOptions,
  },
  examples: [
    "pinakes fsck",
    "pinakes fsck kb/papers --deep",
    "pinakes fsck --repair --dry-run",
    "pinakes fsck --repair --yes --json",
  ],
  localOnly: "it compares the stores directly",
  run: (call) =>
    withStores(
      call,
      call.given.has("repair") ? { action: "fsck.repair", verb: "update", resource: "fsck" } : "reads",
      async ({ knowledge, caller }) => {
        const [repository, collection, ...more] = call.words[0]?.split("/") ?? [];
        if (more.length > 0 || repository === "" || collection === "")
          throw new UsageError(`"${call.words[0]}" is not a repository or collection; write kb or kb/papers.`);
        const { given } = call;
        const input = { repository, collection, deep: given.has("deep"), force_missing: given.has("force-missing") };
        const audit = async (repair: boolean): Promise<Outcome & { readonly found?: number }> => {
          const job = await waitForJob(
            (jobId) => knowledge.jobs.get(caller, jobId),
            await knowledge.audit.fsck(caller, { ...input, repair }),
            call.terminal,
          );
          if (job.status !== "succeeded") return unfinished(call.terminal, job);
          const report = job.result as unknown as AuditReport;
          const findings = report.truncated ? await knowledge.audit.findings(caller, job.job_id) : report.findings;
          const show = () => shown(call.terminal, report, findings, repairingOf(call));
          return {
            answer: { ...report, findings },
            show,
            code: report.left > 0 ? failureExitCode : 0,
            found: report.found,
          };
        };
        if (!given.has("repair") || given.has("dry-run")) return audit(false);
        if (given.has("yes")) return audit(true);
        const plan = await audit(false);
        if (plan.found === undefined || plan.found === 0) return plan;
        call.terminal.err(`${plan.show()}\n\n`);
        await confirm(call, { what: `The repairs of the table will be executed.`, unasked: "refused" });
        return audit(true);
      },
    ),
});

export const fsck: Group = { command };

/** The same scope and depth as before: other checks would not find these differences. */
function repairingOf({ words, given }: Call<ActorOption | "deep">): string {
  const [place] = words;
  const workspace = given.text("workspace");
  const options = [
    ...(given.has("deep") ? ["--deep"] : []),
    ...(workspace === undefined ? [] : [`--workspace ${workspace}`]),
    "--repair",
  ];
  return ["pinakes fsck", ...(place === undefined ? [] : [place]), ...options].join(" ");
}

function unfinished(terminal: Terminal, job: JobView): Outcome {
  return {
    answer: job,
    show: () => styled(terminal, "red", `The audit ${job.status}: ${job.error ?? "see its job"}`),
    code: failureExitCode,
  };
}

function shown(terminal: Terminal, report: AuditReport, findings: readonly Finding[], repairing: string): string {
  const { checked, summary, found, left, waiting, quarantined, began_at, finished_at } = report;
  const looked = Object.entries(checked).map(([what, number]) => `${what} ${number.toLocaleString("en-US")}`);
  const lines = [`${inTime(began_at)} to ${inTime(finished_at).slice(11)}: ${looked.join(", ")}.`];
  if (findings.length > 0) lines.push("", grid(terminal, findings.map(row), { whole: ["kind"], optional: ["key"] }));
  if (found > 0) {
    const plan = (kind: string) => (report.repair ? {} : { "--repair would": repairs[kind as Finding["kind"]] });
    const sums = Object.entries(summary).map(([kind, sum]) => ({
      kind,
      found: sum.found,
      repaired: sum.repaired,
      ...plan(kind),
    }));
    lines.push("", grid(terminal, sums, { whole: ["kind"] }));
  }
  const end =
    found === 0
      ? "No differences found."
      : `${count(found, "finding")}, ${left === 0 ? "all repaired" : `${left} left`}.`;
  lines.push("", styled(terminal, left === 0 ? "green" : "red", end));
  if (quarantined > 0)
    lines.push(`${count(quarantined, "entry", "entries")} moved to the quarantine: see pinakes quarantine list.`);
  if (waiting > 0) lines.push(`${count(waiting, "finding")} may be due to running work: check again later.`);
  for (const { collection_id, repository_id, store = "", detail } of report.refused ?? []) {
    const where = collection_id === undefined ? store : `${repository_id}/${collection_id}`;
    lines.push(styled(terminal, "red", `Refused: ${where}: ${detail} Override with --force-missing.`));
  }
  if (left > 0 && !report.repair) lines.push(`Repair with: ${repairing}`);
  return lines.join("\n");
}

function row({
  kind,
  store,
  repository_id = "",
  collection_id = "",
  incarnation = "",
  document_id = "",
  key = "",
  detail,
  repaired,
}: Finding) {
  const of = collection_id === "" ? repository_id || incarnation : `${repository_id}/${collection_id}`;
  return { kind, store, of, document: document_id, detail, key, repaired: repaired ? "yes" : "" };
}
