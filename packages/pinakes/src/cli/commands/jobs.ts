/** `pinakes jobs …`: background jobs, their progress and errors. */
import type { Job } from "@pinakes/client";
import { defineCommand, failureExitCode, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { fields, grid, inTime, oneLine } from "../terminal/layout.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import { printable, styled, type Terminal } from "../terminal/terminal.ts";
import { waitForJob } from "./wait-for-job.ts";

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list list the jobs, newest first",
  options: { ...listOptions, ...actorOptions },
  examples: ["pinakes jobs list --limit 10"],
  run: (call) =>
    withClient(call, async ({ knowledge, place }) => {
      const page = await readPages(call.given, (paging) => knowledge.jobs.list(paging));
      return {
        answer: page,
        show: () =>
          page.items.length === 0
            ? nothingIn(place, "There are no jobs")
            : grid(call.terminal, page.items.map(row), { whole: ["job", "updated"], optional: ["updated"] }) +
              moreBelow(page),
      };
    }),
});

const show = defineCommand({
  usage: "<job>",
  words: [1, 1],
  summary: "show a job with its result",
  options: actorOptions,
  examples: ["pinakes jobs show 01936f4e-…"],
  run: (call) =>
    withClient(call, async ({ knowledge }) => jobOutcome(call.terminal, await knowledge.jobs.get(jobOf(call)), 0)),
});

const retry = defineCommand({
  usage: "<job>",
  words: [1, 1],
  summary: "retry a failed or cancelled job, and wait for it",
  options: { "no-wait": { type: "boolean", help: "do not wait; the server executes it" }, ...actorOptions },
  examples: ["pinakes jobs retry 01936f4e-…"],
  run: (call) =>
    withClient(call, async (session) =>
      jobBegun(call, session, await session.knowledge.jobs.retry(jobOf(call)), !call.given.has("no-wait")),
    ),
});

const cancel = defineCommand({
  usage: "<job>",
  words: [1, 1],
  summary: "cancel a job at its next step",
  options: actorOptions,
  examples: ["pinakes jobs cancel 01936f4e-…"],
  run: (call) =>
    withClient(call, async ({ knowledge }) => jobOutcome(call.terminal, await knowledge.jobs.cancel(jobOf(call)), 0)),
});

export const jobs: Group = {
  summary: "manage background jobs",
  commands: { list, show, retry, cancel },
};

function jobOf({ words }: Call): string {
  return words[0] as string;
}

/** Waits for a job that a command started, unless disabled. */
export async function jobBegun(
  call: Call,
  { knowledge }: Pick<ClientSession, "knowledge">,
  begun: Job,
  wait: boolean,
): Promise<Outcome> {
  const job = wait ? await waitForJob((jobId) => knowledge.jobs.get(jobId), begun, call.terminal) : begun;
  return jobOutcome(call.terminal, job, job.status === "failed" || job.status === "cancelled" ? failureExitCode : 0);
}

function jobOutcome(terminal: Terminal, job: Job, code: number): Outcome {
  return { answer: job, show: () => details(terminal, job), code };
}

function row({ job_id, kind, status, progress, repository_id, collection_id, updated_at, error }: Job) {
  return {
    job: job_id,
    kind,
    of: collection_id === "" ? repository_id : `${repository_id}/${collection_id}`,
    status,
    done: progress.total === 0 ? "" : `${progress.done}/${progress.total}`,
    updated: inTime(updated_at),
    error: error ?? "",
  };
}

function details(terminal: Terminal, job: Job): string {
  const { error: _, ...rest } = row(job);
  const { attempts, created_by, created_at, error, result } = job;
  const text = fields(terminal, { ...rest, attempts, created: `${inTime(created_at)} by ${created_by}` });
  const told = error === null ? "" : `\n\n${styled(terminal, "red", oneLine(error))}`;
  return `${text}${told}${result === null ? "" : `\n\n${printable(JSON.stringify(result, undefined, 2))}`}`;
}
