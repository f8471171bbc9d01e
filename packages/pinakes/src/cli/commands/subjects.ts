/** `pinakes subjects …`: exports everything stored about a subject, as archives. */
import { waitForExport, type SubjectExport } from "@pinakes/client";
import { defineCommand, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { count, fields, grid, inBytes, inTime } from "../terminal/layout.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import type { ClientSession } from "../client-session.ts";
import { downloadParts } from "./subject-download.ts";
import { subjectOf, subjectOptions, withGovernance, workspaceOptions } from "./subject-options.ts";

const outOption = { type: "string", value: "FOLDER", help: "write the archives there (the current folder)" } as const;

const exporting = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "export everything stored about a subject as archives, and wait for them",
  details: "With --out they are also downloaded. They are kept for 7 days. The subject's data is unchanged.",
  options: {
    ...subjectOptions,
    out: { ...outOption, help: "download the archives into this folder" },
    "no-wait": { type: "boolean", help: "do not wait; the server executes it" },
  },
  examples: ["pinakes subjects export --user erin --out erin", "pinakes subjects export --user erin --json"],
  run: (call) =>
    withGovernance(
      call,
      async (session) => {
        const { given, terminal } = call;
        const { subject, paths } = await subjectOf(call, session);
        const { subjectExports } = session.knowledge;
        const begun = await subjectExports.create({ subject, paths });
        if (given.has("no-wait")) return shown(call, begun);
        const ready = await waitForExport(subjectExports, begun.export_id, { signal: terminal.signal });
        const out = given.text("out");
        return out === undefined ? shown(call, ready) : downloaded(call, session, ready, out);
      },
      { background: true },
    ),
});

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list the exports of the workspace, newest first",
  options: { ...listOptions, ...workspaceOptions },
  examples: ["pinakes subjects list"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const page = await readPages(call.given, (paging) => knowledge.subjectExports.list(paging));
      const rows = () => grid(call.terminal, page.items.map(row), { whole: ["export"], optional: ["by"] });
      return {
        answer: page,
        show: () => (page.items.length === 0 ? "There are no exports of subjects." : rows() + moreBelow(page)),
      };
    }),
});

const download = defineCommand({
  usage: "<export>",
  words: [1, 1],
  summary: "download the archives of an export; continues where an earlier download stopped",
  details: "Each archive is compared with its hash. An archive that already exists is not downloaded again.",
  options: { out: outOption, ...workspaceOptions },
  examples: ["pinakes subjects download 01936f4e-… --out erin"],
  run: (call) =>
    withGovernance(call, async (session) => {
      const one = await session.knowledge.subjectExports.get(call.words[0] as string);
      return downloaded(call, session, one, call.given.text("out") ?? ".");
    }),
});

const remove = defineCommand({
  usage: "<export>",
  words: [1, 1],
  summary: "delete an export and its archives before it expires",
  options: { yes: yesOption, ...workspaceOptions },
  examples: ["pinakes subjects delete 01936f4e-…"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const { export_id, subject, parts } = await knowledge.subjectExports.get(call.words[0] as string);
      const what = `The export of the ${subject.type} ${subject.id} with ${count(parts.length, "archive")} will be deleted.`;
      await confirm(call, { what, unasked: "refused" });
      await knowledge.subjectExports.delete(export_id);
      return { answer: { deleted: export_id }, show: () => `The export ${export_id} is deleted.` };
    }),
});

export const subjects: Group = {
  summary: "everything stored about a person, an agent, a session or documents",
  commands: { export: exporting, list, download, delete: remove },
};

async function downloaded(
  { terminal }: Call,
  { knowledge }: ClientSession,
  one: SubjectExport,
  folder: string,
): Promise<Outcome> {
  const files = await downloadParts(knowledge.subjectExports, one, folder, terminal);
  const lines = files.map(({ file, bytes }) => `${file}  ${inBytes(bytes)}`);
  return { answer: { export_id: one.export_id, files }, show: () => lines.join("\n") };
}

function shown({ terminal }: Call, one: SubjectExport): Outcome {
  const { rows, error } = one;
  const text = (): string => fields(terminal, { ...row(one), error: error ?? "" });
  const table = (): string =>
    rows.length === 0
      ? ""
      : `\n\n${grid(
          terminal,
          rows.map((each) => ({ ...each })),
        )}`;
  return { answer: one, show: () => text() + table() };
}

function row({ export_id, subject, state, parts, created_at, created_by, expires_at }: SubjectExport) {
  return {
    export: export_id,
    of: `${subject.type} ${subject.id}`,
    state,
    archives: parts.length,
    size: inBytes(parts.reduce((sum, { bytes }) => sum + bytes, 0)),
    "asked for": inTime(created_at),
    by: created_by,
    expires: inTime(expires_at),
  };
}
