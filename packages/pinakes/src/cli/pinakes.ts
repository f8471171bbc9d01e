#!/usr/bin/env node
/** `pinakes <command>`: the entry point. Each command is a file that is loaded on demand. */
import { enableCompileCache } from "node:module";
import { PinakesError } from "../domain/errors.ts";
import { failureExitCode, usageExitCode, UsageError, type Group } from "./terminal/command.ts";
import { runGroup } from "./terminal/run-command.ts";
import { suggest } from "./terminal/suggest.ts";
import { Interrupted, interruptedExitCode, processTerminal, styled, type Terminal } from "./terminal/terminal.ts";

interface Entry {
  readonly summary: string;
  readonly load?: () => Promise<Group>;
}

const entries: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  Run: {
    start: { summary: "run the server (also: npm start, pinakes serve)" },
    doctor: {
      summary: "check the settings, the stores, the model and the machine",
      load: async () => (await import("./commands/doctor.ts")).doctor,
    },
    stores: {
      summary: "the store id of items, objects and triples: show, bind",
      load: async () => (await import("./commands/stores.ts")).stores,
    },
    encryption: {
      summary: "the keys of encrypted objects: new-key, status, rotate",
      load: async () => (await import("./commands/encryption.ts")).encryption,
    },
    mcp: {
      summary: "serve MCP on stdin and stdout; --install prints the configuration of clients",
      load: async () => (await import("./commands/mcp.ts")).mcp,
    },
    keys: { summary: "API keys: create, list, revoke", load: async () => (await import("./commands/keys.ts")).keys },
  },
  Governance: {
    audit: {
      summary: "the audit log: list, export, verify, checkpoint",
      load: async () => (await import("./commands/audit.ts")).audit,
    },
    erasures: {
      summary: "remove what names a subject from every store: request, list, show, wait, verify",
      load: async () => (await import("./commands/erasures.ts")).erasures,
    },
    receipts: {
      summary: "signed receipts of erasures: export, key, verify",
      load: async () => (await import("./commands/receipts.ts")).receipts,
    },
    holds: {
      summary: "legal holds: create, list, release",
      load: async () => (await import("./commands/holds.ts")).holds,
    },
    retention: {
      summary: "how long what is kept: list, preview, set",
      load: async () => (await import("./commands/retention.ts")).retention,
    },
    subjects: {
      summary: "data stored about a subject: export, list, download, delete",
      load: async () => (await import("./commands/subjects.ts")).subjects,
    },
  },
  Knowledge: {
    repositories: {
      summary: "list, create, show, delete",
      load: async () => (await import("./commands/repositories.ts")).repositories,
    },
    collections: {
      summary: "list, create, show, describe, set, label, tag, archive, unarchive, reindex, delete, restore, purge",
      load: async () => (await import("./commands/collections.ts")).collections,
    },
    documents: {
      summary: "add (files, folders, patterns), wait, list, show, delete, reindex",
      load: async () => (await import("./commands/documents.ts")).documents,
    },
    ask: { summary: "answer a question, with citations", load: async () => (await import("./commands/ask.ts")).ask },
    search: { summary: "find passages", load: async () => (await import("./commands/search.ts")).search },
    triples: {
      summary: "the RDF graph: load, query, export, remove",
      load: async () => (await import("./commands/triples.ts")).triples,
    },
    sparql: {
      summary: "query or update a collection in SPARQL",
      load: async () => (await import("./commands/sparql.ts")).sparql,
    },
    chunk: {
      summary: "preview how a file is parsed and chunked; nothing is stored",
      load: async () => (await import("./commands/chunk.ts")).chunk,
    },
    transfer: {
      summary: "export and import, in the layouts of LISA and of catalogs",
      load: async () => (await import("./commands/transfer.ts")).transfer,
    },
    migrate: {
      summary:
        "from other programs, layouts and engines: plan, run, status, verify, switch, finish, rollback, list, engine",
      load: async () => (await import("./commands/migrate.ts")).migrate,
    },
    ops: {
      summary: "operations on collections in all stores: list, show, retry",
      load: async () => (await import("./commands/ops.ts")).ops,
    },
    jobs: {
      summary: "background jobs: list, show, retry, cancel",
      load: async () => (await import("./commands/jobs.ts")).jobs,
    },
  },
  "State of agents": {
    workflows: {
      summary: "list, show, checkpoints, start, pause, resume, retry, skip, complete, cancel, delete, stats",
      load: async () => (await import("./commands/workflows.ts")).workflows,
    },
    memories: {
      summary: "messages of agents: sessions, show, context, search, delete",
      load: async () => (await import("./commands/memories.ts")).memories,
    },
    metrics: {
      summary: "metrics over time: ingest, list, aggregate",
      load: async () => (await import("./commands/metrics.ts")).metrics,
    },
    tools: {
      summary: "the log of tool invocations: ingest, list, show, export, aggregate, rules, settings, verify",
      load: async () => (await import("./commands/tools.ts")).tools,
    },
    containers: {
      summary: "list, show, create, delete, changes",
      load: async () => (await import("./commands/containers.ts")).containers,
    },
    query: { summary: "query a container in SQL", load: async () => (await import("./commands/query.ts")).query },
  },
  "Look closer": {
    fsck: {
      summary: "compare all stores with the records, and repair differences",
      load: async () => (await import("./commands/fsck.ts")).fsck,
    },
    quarantine: {
      summary: "what fsck --repair removed: list, show, restore, drop",
      load: async () => (await import("./commands/quarantine.ts")).quarantine,
    },
    eval: { summary: "measure searches on a test set" },
    vectors: { summary: "inspect and maintain vector collections: compact, fsck, restore, …" },
  },
};

/** Commands with their own options, and why no server can execute them. */
const localOnly: Readonly<Record<string, string>> = {
  vectors: "it works on the vectors of the object store directly",
  eval: "it indexes and searches a test set in this process",
};

async function main([command, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  const why = command === undefined ? undefined : localOnly[command];
  if (why !== undefined && rest.some((word) => /^--url(?:=|$)/.test(word)))
    throw new UsageError(
      `--url: pinakes ${command} only works on the stores of this machine: ${why}. Run it on the machine of the stores.`,
    );
  switch (command) {
    case "start":
    case "serve":
      return start(command, rest, terminal);
    case "vectors":
      return (await import("./commands/vectors.ts")).vectorsCommand(rest, { env: process.env, out: terminal.out });
    case "eval": {
      const progress = process.stderr.isTTY ? { progress: terminal.err } : {};
      return (await import("./commands/eval.ts")).evalCommand(rest, { out: terminal.out, ...progress });
    }
    case undefined:
      terminal.err(help(terminal));
      return usageExitCode;
    case "help":
    case "--help":
    case "-h":
      if (rest[0] !== undefined) return main([rest[0], "--help"], terminal);
      terminal.out(help(terminal));
      return 0;
    default:
      return runGroup(command, await load(command), rest, terminal);
  }
}

const startHelp = `pinakes start

Run the server until Ctrl-C. All its settings come from the environment: PINAKES_PORT, PINAKES_HOST, PINAKES_DATA, … (docs/reference.md).

Example
  PINAKES_PORT=8080 PINAKES_DATA=/srv/pinakes pinakes start
`;

async function start(name: string, args: readonly string[], terminal: Terminal): Promise<number> {
  if (args[0] === "--help" || args[0] === "-h") {
    terminal.out(startHelp);
    return 0;
  }
  if (args.length > 0)
    throw new UsageError(
      `"${args.join(" ")}" is unexpected; ${name} has no options, its settings come from the environment.`,
    );
  await import("./commands/start.ts");
  return 0;
}

async function load(name: string): Promise<Group> {
  const all = Object.assign({}, ...Object.values(entries)) as Record<string, Entry>;
  const entry = Object.hasOwn(all, name) ? all[name] : undefined;
  if (entry?.load !== undefined) return entry.load();
  if (name.startsWith("-")) throw new UsageError(`${name} precedes the command; options come after it.`);
  const meant = suggest(name, [...Object.keys(all), "serve"]);
  throw new UsageError(
    `there is no command "${name}"${meant === undefined ? "" : `; did you mean "${meant}"?`} See pinakes --help.`,
  );
}

function help(terminal: Terminal): string {
  const width = Math.max(...Object.values(entries).flatMap((group) => Object.keys(group).map((name) => name.length)));
  const groups = Object.entries(entries).map(([heading, group]) => {
    const lines = Object.entries(group).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
    return `${styled(terminal, "dim", heading)}\n${lines.join("\n")}\n`;
  });
  return `${styled(terminal, "bold", "pinakes")} <command>

${groups.join("\n")}
Each has --help with examples, and --json. Begin with:

  pinakes repositories create kb
  pinakes collections create kb/papers
  pinakes documents add kb/papers ./papers
  pinakes search 'how are numbers computed?'

Commands ask the server that runs on the data folder; without one they open its stores: PINAKES_DATA, PINAKES_ITEMS, PINAKES_OBJECTS, …
(docs/reference.md). Another server: --url and --key, or PINAKES_URL and PINAKES_KEY. Exit codes: 0 done, 1 failed, 2 a mistake on the command line, 130 Ctrl-C.
`;
}

const stopping = new AbortController();

/** The server and the evaluation handle signals themselves. */
function stopOnInterrupt(command: string | undefined): void {
  if (command === "start" || command === "serve" || command === "eval") return;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // A second signal exits immediately.
      if (stopping.signal.aborted || command === "vectors") process.exit(interruptedExitCode);
      stopping.abort();
    });
  }
}

function exitCodeOf(error: unknown, terminal: Terminal): number {
  if (error instanceof Interrupted || stopping.signal.aborted) {
    terminal.err("pinakes: stopped.\n");
    return interruptedExitCode;
  }
  const message = error instanceof Error ? error.message : String(error);
  terminal.err(
    PinakesError.isInstance(error)
      ? `pinakes: ${message}\n`
      : `pinakes: unexpected: ${error instanceof Error ? (error.stack ?? message) : message}\n`,
  );
  return error instanceof UsageError ? usageExitCode : failureExitCode;
}

/** The reader of a pipe, such as `pinakes … | head`, closed it. */
function endQuietlyWhenNobodyReads(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

// Node caches compiled code in the system's temporary folder, which cuts the start time of commands to a third.
enableCompileCache();
const args = process.argv.slice(2);
const terminal = processTerminal(stopping.signal);
endQuietlyWhenNobodyReads();
stopOnInterrupt(args[0]);
const code = await main(args, terminal).catch((error: unknown) => exitCodeOf(error, terminal));
if (code !== 0) process.exitCode = code;
