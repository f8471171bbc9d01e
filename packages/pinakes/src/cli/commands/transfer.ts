/** `pinakes transfer …`: out into the layouts of LISA's tables and of the knowledge-base catalogs, and in from them. */
import { folderReader, readTransferNames, writeFolder, type ImportReport } from "../../knowledge/index.ts";
import { defineCommand, failureExitCode, UsageError, type Group } from "../terminal/command.ts";
import { actorOptions, withStores } from "../session.ts";

const exporting = defineCommand({
  usage: "<folder>",
  words: [1, 1],
  summary: "write repositories, collections, documents and their files into a folder",
  details:
    "Tables and buckets are named by the environment, as the projects do it: LISA_RAG_COLLECTIONS_TABLE, RAG_DOCUMENT_TABLE, KB_PROJECT, …",
  options: {
    repositories: { type: "string", value: "a,b", help: "only these (all, users' own included)" },
    format: { type: "string", value: "FORMAT", help: "json, or dynamodb as its own exports are (json)" },
    gzip: { type: "boolean", help: "compress the tables" },
    "no-files": { type: "boolean", help: "the tables only" },
    ...actorOptions,
  },
  examples: [
    "pinakes transfer export ./out",
    "pinakes transfer export ./out --repositories kb --format dynamodb --gzip",
  ],
  localOnly: "it reads and writes files of this machine",
  run: (call) =>
    withStores(
      call,
      { action: "transfer.export", verb: "export", resource: "transfer" },
      async ({ knowledge, caller }) => {
        const { given, terminal, words } = call;
        const files = knowledge.transfer.export(caller, {
          repositories: given.list("repositories"),
          format: given.oneOf("format", ["json", "dynamodb"] as const),
          gzip: given.has("gzip"),
          objects: !given.has("no-files"),
          names: readTransferNames(terminal.env),
        });
        const written = await writeFolder(files, words[0] as string);
        return { answer: written, show: () => `${written.files} files, ${written.bytes} bytes, in ${words[0]}.` };
      },
    ),
});

const importing = defineCommand({
  usage: "<folder>",
  words: [1, 1],
  summary: "read such a folder; what is here already is left as it is",
  details:
    "What cannot be taken is told by file and line, and the rest goes on. Documents are indexed by the server, or by `pinakes documents wait`.",
  options: {
    "dry-run": { type: "boolean", help: "look at everything, write nothing" },
    models: {
      type: "string",
      value: "JSON",
      help: 'which model stands for another: {"amazon.titan-embed-text-v1":"all-MiniLM-L6-v2"}',
    },
    ...actorOptions,
  },
  examples: ["pinakes transfer import ./out --dry-run"],
  localOnly: "it reads and writes files of this machine",
  run: (call) =>
    withStores(
      call,
      { action: "transfer.import", verb: "create", resource: "transfer" },
      async ({ knowledge, caller }) => {
        const { given, words } = call;
        const report = await knowledge.transfer.import(caller, folderReader(words[0] as string), {
          dry_run: given.has("dry-run"),
          models: modelsOf(given.json("models")),
        });
        return { answer: report, show: () => reportText(report), code: report.problem_count > 0 ? failureExitCode : 0 };
      },
      { creates: true },
    ),
});

export const transfer: Group = {
  summary: "out into the layouts of LISA's tables and of catalogs, and in from them",
  commands: { export: exporting, import: importing },
};

function modelsOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  if (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((name) => typeof name === "string")
  )
    return value as Record<string, string>;
  throw new UsageError(
    '--models: must be an object of names, such as {"amazon.titan-embed-text-v1":"all-MiniLM-L6-v2"}.',
  );
}

function reportText({
  dry_run,
  counts,
  documents_without_bytes,
  problems,
  problem_count,
  warnings,
  warning_count,
}: ImportReport): string {
  const lines = Object.entries(counts)
    .filter(([, { created, skipped, refused }]) => created + skipped + refused > 0)
    .map(
      ([kind, { created, skipped, refused }]) =>
        `${kind.replaceAll("_", " ")}: ${created} made, ${skipped} here already, ${refused} refused`,
    );
  const notes = (title: string, list: ImportReport["problems"], count: number) =>
    count === 0
      ? []
      : [
          "",
          `${title} (${count}):`,
          ...list.slice(0, 50).map(({ file, line, reason }) => `  ${file}${line === 0 ? "" : `:${line}`}: ${reason}`),
        ];
  return [
    ...(dry_run ? ["Nothing was written."] : []),
    ...(lines.length === 0 ? ["There was nothing to import."] : lines),
    ...(documents_without_bytes === 0 ? [] : [`${documents_without_bytes} documents came without their files.`]),
    ...notes("Refused", problems, problem_count),
    ...notes("To look at", warnings, warning_count),
  ].join("\n");
}
