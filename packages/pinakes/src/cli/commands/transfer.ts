/** `pinakes transfer …`: export and import in the layouts of LISA's tables and of the knowledge-base catalogs. */
import { folderReader, readTransferNames, writeFolder, type ImportReport } from "../../knowledge/index.ts";
import { defineCommand, failureExitCode, UsageError, type Group } from "../terminal/command.ts";
import { actorOptions, withStores } from "../session.ts";

const exporting = defineCommand({
  usage: "<folder>",
  words: [1, 1],
  summary: "export repositories, collections, documents and their files to a folder",
  details:
    "Names of tables and buckets come from the environment variables of those projects: LISA_RAG_COLLECTIONS_TABLE, RAG_DOCUMENT_TABLE, KB_PROJECT, …",
  options: {
    repositories: { type: "string", value: "a,b", help: "only these (default: all, including personal ones)" },
    format: { type: "string", value: "FORMAT", help: "json, or dynamodb for the format of its exports (json)" },
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
  summary: "import such a folder; existing records are skipped",
  details:
    "Invalid records are reported by file and line, and skipped. Documents are indexed by the server, or by `pinakes documents wait`.",
  options: {
    "dry-run": { type: "boolean", help: "dry run: check everything, write nothing" },
    models: {
      type: "string",
      value: "JSON",
      help: 'which model replaces another: {"amazon.titan-embed-text-v1":"all-MiniLM-L6-v2"}',
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
  summary: "export and import in the layouts of LISA's tables and of catalogs",
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
        `${kind.replaceAll("_", " ")}: ${created} created, ${skipped} skipped (existing), ${refused} refused`,
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
    ...(lines.length === 0 ? ["There is nothing to import."] : lines),
    ...(documents_without_bytes === 0 ? [] : [`${documents_without_bytes} documents have no files.`]),
    ...notes("Refused", problems, problem_count),
    ...notes("To review", warnings, warning_count),
  ].join("\n");
}
