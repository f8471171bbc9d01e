/** `pinakes documents add` and `wait`: uploads files to a collection, with a progress bar, until they are searchable. */
import { setTimeout as sleep } from "node:timers/promises";
import { invalid } from "../../domain/errors.ts";
import type { Collection, Document } from "@pinakes/client";
import { itemsOf } from "../../runtime/pages.ts";
import { addDocuments, type AddedFile, type AddProgress } from "./add-documents.ts";
import { defineCommand, failureExitCode, type Outcome } from "../terminal/command.ts";
import { findFiles } from "./find-files.ts";
import { count, inMs, oneLine } from "../terminal/layout.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions, readAddress, type Address } from "../session.ts";
import { interruptedExitCode, styled, type Terminal } from "../terminal/terminal.ts";

export const add = defineCommand({
  usage: "<repository/collection> <files, folders, patterns…>",
  words: [2, 100_000],
  summary: "upload files to a collection, and wait until they are searchable",
  details: `
Folders are uploaded recursively, without hidden ones. A document is identified by its name; inside a folder or pattern by its
to it, so that a/x.md and b/x.md are two documents. Files of unsupported types are skipped and listed.
If a server is running, it indexes the files; otherwise this process does.
After Ctrl-C stored documents are kept: a server continues with them, or \`pinakes documents wait\`.`,
  options: {
    replace: {
      type: "boolean",
      help: "replace documents with the same name; files with the same bytes are skipped",
    },
    metadata: { type: "string", value: "JSON", help: "fields that searches can filter by" },
    chunking: { type: "string", value: "JSON", help: "override the chunking of the collection" },
    "no-wait": { type: "boolean", help: "only store them; a server indexes them" },
    ...actorOptions,
  },
  examples: [
    "pinakes documents add kb/papers turing-1936.pdf",
    "pinakes documents add kb/manuals ./manuals --replace",
    `pinakes documents add kb/papers 'archive/**/*.pdf' --metadata '{"year":1936}'`,
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const address = readAddress(call.words[0] as string);
    const [metadata, chunking] = [given.json("metadata"), given.json("chunking")];
    const { files, skipped } = await findFiles(call.words.slice(1), terminal.cwd);
    if (skipped.length > 0) terminal.err(`${skippedText(skipped)}\n`);
    if (files.length === 0) throw invalid("nothing to add: no file has a supported type.");
    const began = performance.now();
    const wait = !given.has("no-wait");
    const work = async (session: ClientSession): Promise<Outcome> => {
      const shown = new Shown(terminal);
      const options = { address, replace: given.has("replace"), metadata, chunking, wait, signal: terminal.signal };
      const added = await addDocuments(session, files, {
        ...options,
        onProgress: (progress) => shown.show(progress),
      }).finally(() => shown.end());
      return outcome(terminal, { added, skipped, address, wait, ms: performance.now() - began });
    };
    return withClient(call, work, { background: wait, endsItself: true });
  },
});

export const wait = defineCommand({
  usage: "<repository/collection>",
  words: [1, 1],
  summary: "wait until nothing is pending; this process helps to index to index",
  options: actorOptions,
  examples: ["pinakes documents wait kb/papers"],
  run: async (call) => {
    const { terminal } = call;
    const address = readAddress(call.words[0] as string);
    const work = async (session: ClientSession): Promise<Outcome> => {
      const collection = await untilReady(session, address, terminal);
      const failed = await failedDocuments(session, address);
      const { document_count, chunk_count } = collection;
      const lines = [
        ...failed.map(({ name, error }) => failureLine(terminal, name, error ?? "")),
        `${count(document_count, "document")}, ${count(chunk_count, "passage")}${failed.length === 0 ? "" : `, ${failed.length} failed`}.`,
      ];
      return {
        answer: { ...collection, failed },
        show: () => lines.join("\n"),
        code: failed.length === 0 ? 0 : failureExitCode,
      };
    };
    return withClient(call, work, { background: true });
  },
});

const pollMs = 200;

async function untilReady({ knowledge }: ClientSession, at: Address, terminal: Terminal): Promise<Collection> {
  const bar =
    terminal.progressColumns === undefined
      ? undefined
      : new ProgressBar(terminal.err, undefined, terminal.progressColumns);
  try {
    for (;;) {
      const now = await knowledge.collections.get(at);
      const { uploading, pending, indexing } = now.documents_by_status;
      const left = uploading + pending + indexing;
      if (left === 0) return now;
      bar?.show("documents", now.document_count - left, now.document_count, count(now.chunk_count, "passage"));
      await sleep(pollMs, undefined, { signal: terminal.signal });
    }
  } finally {
    bar?.end();
  }
}

async function failedDocuments({ knowledge }: ClientSession, at: Address): Promise<readonly Document[]> {
  return Array.fromAsync(itemsOf((cursor) => knowledge.documents.list(at, { status: "failed", limit: 100, cursor })));
}

/** A bar on a terminal; otherwise an occasional line. */
class Shown {
  readonly #terminal: Terminal;
  readonly #bar: ProgressBar | undefined;
  #toldAt = performance.now();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#bar =
      terminal.progressColumns === undefined
        ? undefined
        : new ProgressBar(terminal.err, undefined, terminal.progressColumns);
  }

  show({ files, stored, over, failed, passages }: AddProgress): void {
    const wrong = failed === 0 ? "" : ` · ${failed} failed`;
    if (this.#bar !== undefined) return this.#bar.show("files", over, files, `${count(passages, "passage")}${wrong}`);
    if (performance.now() - this.#toldAt < plainLineMs) return;
    this.#toldAt = performance.now();
    this.#terminal.err(
      `${over} of ${count(files, "file")} done, ${stored} stored, ${count(passages, "passage")}${wrong}\n`,
    );
  }

  end(): void {
    this.#bar?.end();
  }
}

const plainLineMs = 5_000;
const skippedShownMax = 5;

function skippedText(skipped: readonly string[]): string {
  const names = skipped.slice(0, skippedShownMax).map(oneLine).join(", ");
  const more = skipped.length > skippedShownMax ? ` and ${skipped.length - skippedShownMax} more` : "";
  return `skipped, because these file types are not supported: ${names}${more}`;
}

interface Summary {
  readonly added: readonly AddedFile[];
  readonly skipped: readonly string[];
  readonly address: Address;
  readonly wait: boolean;
  readonly ms: number;
}

function outcome(terminal: Terminal, { added, skipped, address, wait: waited, ms }: Summary): Outcome {
  const by = (wanted: AddedFile["outcome"]) => added.filter((file) => file.outcome === wanted);
  const [indexed, unchanged, failed, left] = [by("indexed"), by("unchanged"), by("failed"), by("left")];
  const stored = left.filter(({ document }) => document !== undefined).length;
  const passages = indexed.reduce((sum, { document }) => sum + (document?.chunk_count ?? 0), 0);
  const answer = {
    indexed: indexed.length,
    unchanged: unchanged.length,
    failed: failed.length,
    stored,
    not_begun: left.length - stored,
    passages,
    ms: Math.round(ms),
    skipped,
    files: added,
  };
  const where = `${address.repository}/${address.collection}`;
  const parts = [
    ...(indexed.length === 0 ? [] : [`${count(indexed.length, "file")} added as ${count(passages, "passage")}`]),
    ...(unchanged.length === 0 ? [] : [`${unchanged.length} unchanged`]),
    ...(stored === 0 ? [] : [waited ? `${stored} stored, but not indexed yet` : `${count(stored, "file")} stored`]),
    ...(left.length === stored ? [] : [`${left.length - stored} not begun`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed`]),
  ];
  const show = () =>
    [
      ...failed.map(({ place, reason = "" }) => failureLine(terminal, place, reason)),
      `${parts.join(", ")} (${inMs(ms)}).`,
      ...(failed.some(({ code }) => code === "CONFLICT") ? ["To replace existing documents: --replace"] : []),
      ...(stored === 0 ? [] : [`A running server indexes them; without one: pinakes documents wait ${where}`]),
    ].join("\n");
  const stopped = terminal.signal.aborted && left.length > 0;
  return { answer, show, code: stopped ? interruptedExitCode : failed.length > 0 ? failureExitCode : 0 };
}

function failureLine(terminal: Terminal, place: string, reason: string): string {
  return `${styled(terminal, "red", "✗")} ${oneLine(place)}: ${oneLine(reason)}`;
}
