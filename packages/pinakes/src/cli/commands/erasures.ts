/** `pinakes erasures …`: removes everything that names a subject from every store, and verifies that it is gone. */
import { waitForErasure, type Erasure, type ErasureStore } from "@pinakes/client";
import { defineCommand, failureExitCode, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { fields, grid, inTime, oneLine } from "../terminal/layout.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";
import type { ClientSession } from "../client-session.ts";
import { subjectOf, subjectOptions, withGovernance, workspaceOptions } from "./subject-options.ts";

/** Without a server this process does the work. */
const works = { background: true } as const;

const request = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "erase what names a subject from every store, and wait for the end",
  details:
    "It first shows counts and asks for confirmation; --dry-run only counts. The exit code is 1 if a legal hold prevents part of it. The erasure continues in the background and survives crashes.",
  options: {
    ...subjectOptions,
    "dry-run": { type: "boolean", help: "only count; nothing changes" },
    scrub: { type: "boolean", help: "also rewrite the files of PostgreSQL, which locks each table (SQLite: always)" },
    "no-wait": { type: "boolean", help: "do not wait; the server executes it" },
    yes: yesOption,
  },
  examples: [
    "pinakes erasures request --user erin --dry-run",
    "pinakes erasures request --user erin",
    "pinakes erasures request --documents 01936f4e-…,01936f52-… --collection kb/papers --yes",
  ],
  run: (call) =>
    withGovernance(
      call,
      async (session) => {
        const { given, terminal } = call;
        const { erasures } = session.knowledge;
        const { subject, paths, text, id } = await subjectOf(call, session);
        const count = (): Promise<Erasure> => erasures.request({ subject, paths, dry_run: true });
        if (given.has("dry-run")) return outcome(terminal, await count());
        if (!given.has("yes")) {
          const what = `${whatIsNamed(await count())} ${text}: it will be erased from every store, permanently.`;
          await confirm(call, { what, type: id, unasked: "refused" });
        }
        const begun = await erasures.request({ subject, paths, ...(given.has("scrub") ? { scrub: true } : {}) });
        return outcome(terminal, given.has("no-wait") ? begun : await waited(session, begun.erasure_id, terminal));
      },
      works,
    ),
});

function whatIsNamed({ stores }: Erasure): string {
  const found = stores.reduce((sum, one) => sum + one.found, 0);
  const places = stores.filter((one) => one.found > 0).length;
  return `${found.toLocaleString("en-US")} ${found === 1 ? "entry" : "entries"} in ${places} ${places === 1 ? "store names" : "stores name"}`;
}

const steps: readonly Erasure["state"][] = ["received", "scanning", "executing", "verifying"];

/** Shows how far it is. */
export async function waited({ knowledge }: ClientSession, erasureId: string, terminal: Terminal): Promise<Erasure> {
  const columns = terminal.progressColumns;
  const bar = columns === undefined ? undefined : new ProgressBar(terminal.err, undefined, columns);
  try {
    return await waitForErasure(knowledge.erasures, erasureId, {
      signal: terminal.signal,
      onProgress: ({ state, error }) =>
        bar?.show("erasure", Math.max(0, steps.indexOf(state)), steps.length, error === null ? state : oneLine(error)),
    });
  } finally {
    bar?.end();
  }
}

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list the erasures of the workspace, newest first",
  options: { ...listOptions, ...workspaceOptions },
  examples: ["pinakes erasures list", "pinakes erasures list --json"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const page = await readPages(call.given, (paging) => knowledge.erasures.list(paging));
      const shown = () =>
        grid(call.terminal, page.items.map(row), { whole: ["erasure"], optional: ["by", "asked for"] });
      return {
        answer: page,
        show: () => (page.items.length === 0 ? "There are no erasures." : shown() + moreBelow(page)),
      };
    }),
});

const show = defineCommand({
  usage: "<erasure>",
  words: [1, 1],
  summary: "show an erasure: its state, and counts of each store",
  options: workspaceOptions,
  examples: ["pinakes erasures show 01936f4e-…"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const erasure = await knowledge.erasures.get(call.words[0] as string);
      return { ...outcome(call.terminal, erasure), code: 0 };
    }),
});

const wait = defineCommand({
  usage: "<erasure>",
  words: [1, 1],
  summary: "wait until an erasure has ended",
  details: "The exit code is 1 when a legal hold keeps something.",
  options: workspaceOptions,
  examples: ["pinakes erasures wait 01936f4e-…"],
  run: (call) =>
    withGovernance(
      call,
      async (session) => outcome(call.terminal, await waited(session, call.words[0] as string, call.terminal)),
      works,
    ),
});

const verify = defineCommand({
  usage: "<erasure>",
  words: [1, 1],
  summary: "count again what names the subject, and check the receipt",
  details:
    "A completed erasure no longer stores the subject, so specify it again. The exit code is 1 if anything is left.",
  options: subjectOptions,
  examples: ["pinakes erasures verify 01936f4e-… --user erin"],
  run: (call) =>
    withGovernance(call, async (session) => {
      const { subject, paths } = await subjectOf(call, session);
      const answer = await session.knowledge.erasures.verify(call.words[0] as string, { subject, paths });
      const { remaining, receipt, stores } = answer;
      const left = stores.filter((one) => one.remaining > 0);
      const lines = [
        remaining === 0
          ? `${styled(call.terminal, "green", "GONE")}: nothing names the subject.`
          : `${styled(call.terminal, "red", "NOT GONE")}: ${remaining} left: ${left.map((one) => `${one.store} ${one.remaining}`).join(", ")}.`,
        receipt.valid ? "The receipt is valid." : `The receipt is not valid: ${receipt.reason}.`,
      ];
      const good = remaining === 0 && receipt.valid;
      return { answer, show: () => lines.join("\n"), code: good ? 0 : failureExitCode };
    }),
});

export const erasures: Group = {
  summary: "remove what names a person, an agent, a session, documents or the workspace, with a proof",
  commands: { request, list, show, wait, verify },
};

function row({ erasure_id, subject, state, dry_run, created_at, created_by, stores }: Erasure) {
  return {
    erasure: erasure_id,
    of: subject.type,
    state: dry_run ? "counted (dry run)" : state,
    found: stores.reduce((sum, one) => sum + one.found, 0),
    "asked for": inTime(created_at),
    by: created_by,
  };
}

function outcome(terminal: Call["terminal"], erasure: Erasure): Outcome {
  return {
    answer: erasure,
    show: () => details(terminal, erasure),
    code: erasure.state === "held" ? failureExitCode : 0,
  };
}

function details(terminal: Terminal, erasure: Erasure): string {
  const { found: _, ...summary } = row(erasure);
  const { error, holds, receipt_id, finished_at, attempts, stores } = erasure;
  const text = fields(terminal, {
    ...summary,
    ended: finished_at === null ? "" : inTime(finished_at),
    attempts,
    receipt: receipt_id ?? "",
    holds: holds.join(", "),
  });
  const told = error === null ? [] : [styled(terminal, "red", oneLine(error))];
  const rows = stores.filter((one) => one.found + changes(one) > 0).map(storeRow);
  const counted = rows.length === 0 ? [] : [grid(terminal, rows)];
  return [text, ...told, ...counted].join("\n\n");
}

function changes({ deleted, redacted, anonymised, held }: ErasureStore): number {
  return deleted + redacted + anonymised + held;
}

function storeRow({ store, found, deleted, redacted, anonymised, held, remaining }: ErasureStore) {
  return { store, found, deleted, redacted, anonymised, held, remaining: remaining ?? "" };
}
