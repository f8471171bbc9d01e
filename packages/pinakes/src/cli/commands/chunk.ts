/** `pinakes chunk`: previews how a file is parsed and chunked, by the real ingestion in an in-memory instance. */
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { DocumentView, Passage } from "../../knowledge/index.ts";
import { open, type Pinakes } from "../../open.ts";
import { itemsOf } from "../../runtime/pages.ts";
import { describeChunking } from "./collection-text.ts";
import { defineCommand, type Call, type Group } from "../terminal/command.ts";
import { passagesText } from "./documents.ts";
import { count } from "../terminal/layout.ts";
import { styled } from "../terminal/terminal.ts";
import { logOf } from "../session.ts";

const command = defineCommand({
  usage: "<file>",
  words: [1, 1],
  summary: "preview how a file is parsed and chunked; nothing is stored",
  details: `
Offsets are characters (UTF-16) of the text extracted from the file; citations refer to them. The types are FIXED, RECURSIVE, TOKEN,
SENTENCE, MARKDOWN, SEMANTIC (with the local model) and NONE.`,
  options: {
    strategy: { type: "string", value: "JSON", help: `chunking strategy (default: that of a new collection)` },
    limit: { type: "string", value: "N", help: "show only the first N" },
  },
  examples: [
    "pinakes chunk paper.pdf",
    `pinakes chunk README.md --strategy '{"type":"MARKDOWN","chunk_size":800}' --limit 3`,
  ],
  localOnly: "it reads a file and stores nothing",
  run: async (call) => {
    const { given, terminal } = call;
    const strategy = given.json("strategy");
    const limit = given.whole("limit", 1, 1_000_000) ?? Infinity;
    const path = resolve(terminal.cwd, call.words[0] as string);
    const bytes = await readFile(path).catch((error: unknown) => {
      throw invalid(`the file cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    });
    const { document, passages } = await cut(call, basename(path), bytes, strategy);
    const shown = passages.slice(0, limit);
    const chars = passages.reduce((sum, { start, end }) => sum + end - start, 0);
    const cutAs = document.chunking_strategy === null ? "" : describeChunking(document.chunking_strategy);
    const last = `${count(passages.length, "chunk")} of ${Math.round(chars / Math.max(1, passages.length))} characters on average (${cutAs}).`;
    return {
      answer: {
        name: document.name,
        file_type: document.file_type,
        chunking_strategy: document.chunking_strategy,
        total: passages.length,
        passages: shown,
      },
      show: () => `${passagesText(terminal, shown)}\n\n${styled(terminal, "dim", last)}`,
    };
  },
});

export const chunk: Group = { command };

interface Cut {
  readonly document: DocumentView;
  readonly passages: readonly Passage[];
}

const pollMs = 50;
const pageItems = 100;
const place = ["preview", "preview"] as const;

async function cut(call: Call, name: string, bytes: Uint8Array, strategy: unknown): Promise<Cut> {
  // Only in memory, and with the local model: a preview sends nothing to a provider.
  await using pinakes = await open({ items: "memory:", objects: "memory:", log: logOf(call) });
  const caller = pinakes.as({ tenant: "preview", userId: "preview", role: "admin" });
  await pinakes.knowledge.repositories.create(caller, { repository_id: place[0] });
  const chunking = strategy === undefined ? {} : { chunking_strategy: strategy };
  await pinakes.knowledge.collections.create(caller, place[0], { collection_id: place[1], ...chunking });
  let document: DocumentView = await pinakes.knowledge.documents.upload(caller, ...place, {
    name,
    body: oneBody(bytes),
  });
  while (document.status !== "indexed" && document.status !== "failed") {
    await sleep(pollMs, undefined, { signal: call.terminal.signal });
    document = await pinakes.knowledge.documents.get(caller, ...place, document.document_id);
  }
  if (document.status === "failed") throw new PinakesError("INVALID", `${name}: ${document.error}`);
  return { document, passages: await allPassages(pinakes, caller, document.document_id) };
}

async function allPassages(
  pinakes: Pinakes,
  caller: ReturnType<Pinakes["as"]>,
  id: string,
): Promise<readonly Passage[]> {
  return Array.fromAsync(
    itemsOf((cursor) => pinakes.knowledge.documents.passages(caller, ...place, id, { limit: pageItems, cursor })),
  );
}

async function* oneBody(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
