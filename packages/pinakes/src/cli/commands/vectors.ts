/** `pinakes vectors …`: inspects and maintains vector collections. Safe beside a running server: leases and conditional writes coordinate. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { readConfig } from "../../config.ts";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { tenantScope, type Scope } from "../../domain/scope.ts";
import { openStores, type Pinakes } from "../../open.ts";
import { folderReader, importLayout } from "../../vectors/index.ts";
import { UsageError } from "../terminal/command.ts";
import { requireData } from "../store-location.ts";
import { readable, table } from "../terminal/print.ts";
import { pagesOf } from "../../runtime/pages.ts";

const help = `pinakes vectors <command> --tenant T [collection] [options]

  list                                   the collections of the tenant
  inspect  <collection>                  rows, segments, pending deltas, compaction lease
  history  <collection>                  the versions that can be read or restored
  query    <collection> --text "…"       search by keywords (--limit N, --filter '{"year":{"gt":1990}}')
  compact  <collection> [--all]          fold pending deltas and merge; --all: into as few segments as possible
  gc       <collection> [--dry-run]      remove files that no version needs
  fsck     [collection] [--shallow]      check one collection or all; exit code 1 if there are findings
  repair   <collection> [--recover-deltas]   rebuild the items from the bucket
  restore  <collection> --version N | --time 2030-01-01T00:00:00Z    as a new version
  import   <collection> --from ./folder | key-prefix    snapshot/latest and delta/* of the old layout, or NDJSON; repeating it changes nothing
           [--no-snapshot] [--chroma-collection NAME]
  delete   <collection> [--days N]       to the trash for N days (90); undelete brings it back
  undelete <collection>
  purge    <collection> --yes            remove every byte, now
  dead     <collection> [--inspect N | --redrive N | --discard N]    deltas that could not be read

  --json   print the result as JSON
`;

const options = {
  tenant: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  text: { type: "string" },
  limit: { type: "string" },
  filter: { type: "string" },
  all: { type: "boolean" },
  "dry-run": { type: "boolean" },
  shallow: { type: "boolean" },
  "recover-deltas": { type: "boolean" },
  version: { type: "string" },
  time: { type: "string" },
  days: { type: "string" },
  yes: { type: "boolean" },
  from: { type: "string" },
  "no-snapshot": { type: "boolean" },
  "chroma-collection": { type: "string" },
  inspect: { type: "string" },
  redrive: { type: "string" },
  discard: { type: "string" },
} as const;

interface Call {
  readonly pinakes: Pinakes;
  readonly scope: Scope;
  readonly collection: string;
  readonly values: Values;
}
type Values = ReturnType<typeof parse>["values"];

interface Command {
  /** Without one it applies to all collections, or to none. */
  readonly collection: "required" | "optional" | "none";
  readonly run: (call: Call) => Promise<unknown>;
  /** For display; JSON-like text by default. */
  readonly show?: (answer: never) => string;
  readonly failed?: (answer: never) => boolean;
}

const commands: Readonly<Record<string, Command>> = {
  list: {
    collection: "none",
    run: ({ pinakes, scope }) => allCollections(pinakes, scope),
    show: (rows: Awaited<ReturnType<typeof allCollections>>) =>
      rows.length === 0
        ? "There are no collections."
        : table(
            rows.map(({ collection, status, settings, createdAt }) => ({
              collection,
              status,
              dims: settings.dims,
              metric: settings.metric,
              created: new Date(createdAt).toISOString(),
            })),
          ),
  },
  inspect: {
    collection: "required",
    run: ({ pinakes, scope, collection }) => pinakes.vectors.stats(scope, collection),
  },
  history: {
    collection: "required",
    run: ({ pinakes, scope, collection }) => pinakes.vectors.history(scope, collection),
    show: (rows: Awaited<ReturnType<Pinakes["vectors"]["history"]>>) =>
      table(
        rows.map(({ committedAt, writer: _, ...row }) => ({ ...row, committed: new Date(committedAt).toISOString() })),
      ),
  },
  query: {
    collection: "required",
    run: ({ pinakes, scope, collection, values }) => pinakes.vectors.query(scope, collection, queryOf(values)),
  },
  compact: {
    collection: "required",
    run: ({ pinakes, scope, collection, values }) =>
      pinakes.vectors.compact(scope, collection, { all: values.all ?? false }),
  },
  gc: {
    collection: "required",
    run: ({ pinakes, scope, collection, values }) =>
      pinakes.vectors.collect(scope, collection, { dryRun: values["dry-run"] ?? false }),
  },
  fsck: {
    collection: "optional",
    run: ({ pinakes, scope, collection, values }) => fsckAll(pinakes, scope, collection, values.shallow ?? false),
    failed: (reports: Awaited<ReturnType<typeof fsckAll>>) => reports.some(({ ok }) => !ok),
  },
  repair: {
    collection: "required",
    run: ({ pinakes, scope, collection, values }) =>
      pinakes.vectors.repair(scope, collection, { recoverDeltas: values["recover-deltas"] ?? false }),
  },
  restore: {
    collection: "required",
    run: ({ pinakes, scope, collection, values }) => pinakes.vectors.restore(scope, collection, versionOf(values)),
  },
  import: { collection: "required", run: (call) => importInto(call) },
  delete: {
    collection: "required",
    run: async ({ pinakes, scope, collection, values }) => {
      const purgeAt = Date.now() + numberOf(values.days ?? "90", "--days") * 86_400_000;
      await pinakes.vectors.delete(scope, collection, { purgeAt });
      return { deleted: collection, undeleteBefore: new Date(purgeAt).toISOString() };
    },
  },
  undelete: {
    collection: "required",
    run: async ({ pinakes, scope, collection }) => {
      await pinakes.vectors.undelete(scope, collection);
      return { undeleted: collection };
    },
  },
  purge: {
    collection: "required",
    run: async ({ pinakes, scope, collection, values }) => {
      if (values.yes !== true)
        throw invalid("purge permanently removes every byte of the collection; confirm with --yes.");
      return pinakes.vectors.purge(scope, collection);
    },
  },
  dead: { collection: "required", run: (call) => deadLetters(call) },
};

export async function vectorsCommand(
  args: readonly string[],
  io: { env: NodeJS.ProcessEnv; out: (text: string) => void },
): Promise<number> {
  const { values, positionals } = parse(args);
  const [name, collection, ...more] = positionals;
  if (values.help === true || name === undefined) {
    io.out(help);
    return values.help === true ? 0 : 2;
  }
  const command = commands[name];
  if (command === undefined) throw new UsageError(`there is no command "vectors ${name}"; see pinakes vectors --help.`);
  if (more.length > 0) throw new UsageError(`"${more.join(" ")}" is unexpected; give one collection.`);
  if (values.tenant === undefined) throw new UsageError("specify the workspace: --tenant T.");
  if (command.collection === "required" && collection === undefined)
    throw new UsageError(`specify the collection: pinakes vectors ${name} <collection> --tenant ${values.tenant}`);
  if (command.collection === "none" && collection !== undefined)
    throw new UsageError(`"vectors ${name}" takes no collection.`);
  const scope = tenantScope(values.tenant);
  // The server does the background work; this process does none.
  const { stores, vectors } = readConfig(io.env);
  if (name !== "import") await requireData({ stores });
  await using pinakes = await openStores(stores, { background: false, vectors });
  const answer = await command.run({ pinakes, scope, collection: collection ?? "", values });
  const text =
    values.json === true ? JSON.stringify(answer, undefined, 2) : (command.show?.(answer as never) ?? readable(answer));
  io.out(`${text}\n`);
  return command.failed?.(answer as never) === true ? 1 : 0;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function allCollections(pinakes: Pinakes, scope: Scope) {
  const all = [];
  for await (const page of pagesOf((cursor) => pinakes.vectors.list(scope, { limit: 1_000, cursor }))) {
    all.push(...page.collections);
  }
  return all;
}

async function fsckAll(pinakes: Pinakes, scope: Scope, collection: string, shallow: boolean) {
  const names =
    collection === ""
      ? (await allCollections(pinakes, scope))
          .filter(({ status }) => status === "active" || status === "diverged")
          .map((entry) => entry.collection)
      : [collection];
  const reports = [];
  for (const name of names)
    reports.push({ collection: name, ...(await pinakes.vectors.fsck(scope, name, { deep: !shallow })) });
  return reports;
}

/** A folder of this machine if it exists, else a key prefix of the tenant's objects. */
async function importInto({ pinakes, scope, collection, values }: Call): Promise<unknown> {
  const { from } = values;
  if (from === undefined) throw invalid("specify the source: --from ./folder, or a prefix of object keys.");
  const isFolder = existsSync(from) && statSync(from).isDirectory();
  return importLayout(pinakes.vectors, pinakes.objects, scope, {
    collection,
    create: {},
    prefix: isFolder ? "" : from,
    snapshot: values["no-snapshot"] !== true,
    ...(isFolder ? { from: folderReader(from), label: resolve(from) } : {}),
    ...(values["chroma-collection"] === undefined ? {} : { chromaCollection: values["chroma-collection"] }),
  });
}

async function deadLetters({ pinakes, scope, collection, values }: Call): Promise<unknown> {
  const { dead } = pinakes.vectors;
  if (values.inspect !== undefined) return dead.inspect(scope, collection, numberOf(values.inspect, "--inspect"));
  const redriven = values.redrive === undefined ? undefined : numberOf(values.redrive, "--redrive");
  const discarded = values.discard === undefined ? undefined : numberOf(values.discard, "--discard");
  if (redriven !== undefined) await dead.redrive(scope, collection, redriven);
  if (discarded !== undefined) await dead.discard(scope, collection, discarded);
  if (redriven !== undefined || discarded !== undefined) return pinakes.vectors.compact(scope, collection);
  return dead.list(scope, collection);
}

function queryOf(values: Values) {
  if (values.text === undefined) throw invalid('specify what to search for: --text "…".');
  return {
    text: values.text,
    ...(values.limit === undefined ? {} : { limit: numberOf(values.limit, "--limit") }),
    ...(values.filter === undefined ? {} : { filter: filterOf(values.filter) }),
  };
}

function filterOf(text: string) {
  try {
    return JSON.parse(text) as Record<string, never>;
  } catch (error) {
    throw new PinakesError(
      "INVALID",
      `--filter: is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

function versionOf(values: Values): { version: number } | { time: string } {
  if (values.version !== undefined) return { version: numberOf(values.version, "--version") };
  if (values.time !== undefined) return { time: values.time };
  throw invalid("specify what to restore: --version N or --time T; see pinakes vectors history.");
}

function numberOf(text: string, name: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw invalid(`${name}: must be a whole number, got "${text}".`);
  return value;
}
