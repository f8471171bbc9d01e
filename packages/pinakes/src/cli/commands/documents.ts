/** `pinakes documents …`: upload, list, show and delete documents of collections. */
import { documentStatuses, type Chunk, type Document } from "@pinakes/client";
import { defineCommand, UsageError, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { itemsOf } from "../../runtime/pages.ts";
import { access, accessText } from "./documents-access.ts";
import { add, wait } from "./documents-add.ts";
import { findDocument, placeOf } from "./find-document.ts";
import { jobBegun } from "./jobs.ts";
import { count, fields, grid, inBytes, inTime, oneLine, wrapped } from "../terminal/layout.ts";
import { describeChunking } from "./collection-text.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions, readAddress, type Address } from "../session.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";

const list = defineCommand({
  usage: "<repository/collection>",
  words: [1, 1],
  summary: "list list the documents of a collection, newest first",
  options: {
    status: { type: "string", value: "STATUS", help: documentStatuses.join(", ") },
    q: { type: "string", help: "substring of the name, case-sensitive" },
    ...listOptions,
    ...actorOptions,
  },
  examples: ["pinakes documents list kb/papers", "pinakes documents list kb/papers --status failed --json"],
  run: async (call) => {
    const at = readAddress(call.words[0] as string);
    const query = { status: call.given.oneOf("status", documentStatuses), q: call.given.text("q") };
    return withClient(call, async ({ knowledge, place }) => {
      const page = await readPages(call.given, (paging) => knowledge.documents.list(at, { ...query, ...paging }), {
        total: true,
      });
      return {
        answer: page,
        show: () =>
          page.items.length === 0
            ? nothingIn(place)
            : grid(call.terminal, page.items.map(row), {
                whole: ["document", "uploaded"],
                optional: ["size", "uploaded"],
              }) + moreBelow(page),
      };
    });
  },
});

const show = defineCommand({
  usage: "<repository/collection> <document>",
  words: [2, 2],
  summary: "show a document, by id or name",
  options: { passages: { type: "boolean", help: "with the chunks that searches show" }, ...actorOptions },
  examples: ["pinakes documents show kb/papers turing-1936.pdf --passages"],
  run: async (call) => {
    const address = readAddress(call.words[0] as string);
    return withClient(call, async (session) => {
      const document = await findDocument(session, address, call.words[1] as string);
      const text = details(call.terminal, document);
      if (!call.given.has("passages")) return { answer: document, show: () => text };
      const passages = await allPassages(session, address, document.document_id);
      return { answer: { ...document, passages }, show: () => `${text}\n\n${passagesText(call.terminal, passages)}` };
    });
  },
});

const remove = defineCommand({
  usage: "<repository/collection> <documents…>",
  words: [1, 1_000],
  summary: "permanently remove documents by id or name, or all of them",
  options: {
    all: { type: "boolean", help: "all documents of the collection; the collection stays" },
    yes: yesOption,
    ...actorOptions,
  },
  examples: ["pinakes documents delete kb/papers draft.md notes.txt --yes", "pinakes documents delete kb/papers --all"],
  run: async (call) => {
    const address = readAddress(call.words[0] as string);
    if (call.given.has("all") !== (call.words.length === 1))
      throw new UsageError("give the documents, or --all for all of the collection.");
    if (call.given.has("all")) return withClient(call, (session) => removeAll(call, session, address));
    return withClient(call, async (session) => {
      const documents: Document[] = [];
      for (const word of call.words.slice(1)) documents.push(await findDocument(session, address, word));
      const names = documents.map(({ name }) => oneLine(name)).join(", ");
      await confirm(call, {
        what: `${count(documents.length, "document")} will be permanently removed: ${names}.`,
        unasked: "done",
      });
      for (const { document_id } of documents) await session.knowledge.documents.delete(address, document_id);
      return {
        answer: { deleted: documents.map(({ document_id, name }) => ({ document_id, name })) },
        show: () => `Removed ${names}.`,
      };
    });
  },
});

async function removeAll(call: Call<"yes">, session: ClientSession, at: Address): Promise<Outcome> {
  const { name, collection_id, document_count } = await session.knowledge.collections.get(at);
  const what = `All ${count(document_count, "document")} of ${at.repository}/${at.collection} (${name}) will be permanently removed; the collection stays.`;
  await confirm(call, { what, type: collection_id, unasked: "refused" });
  return jobBegun(call, session, await session.knowledge.documents.deleteAll(at, { confirm: collection_id }), true);
}

const reindex = defineCommand({
  usage: "<repository/collection> <document>",
  words: [2, 2],
  summary: "chunk and embed a document again, or retry a failed one",
  options: actorOptions,
  examples: ["pinakes documents reindex kb/papers scan.pdf"],
  run: async (call): Promise<Outcome> => {
    const address = readAddress(call.words[0] as string);
    return withClient(call, async (session) => {
      const { document_id } = await findDocument(session, address, call.words[1] as string);
      const document = await session.knowledge.documents.reindex(address, document_id);
      const note = `\n\nIt is queued. A server indexes it; without one: pinakes documents wait ${address.repository}/${address.collection}`;
      return { answer: document, show: () => details(call.terminal, document) + note };
    });
  },
});

export const documents: Group = {
  summary: "manage the documents of a collection",
  commands: { add, wait, list, show, access, delete: remove, reindex },
};

async function allPassages({ knowledge }: ClientSession, at: Address, id: string): Promise<readonly Chunk[]> {
  return Array.fromAsync(itemsOf((cursor) => knowledge.documents.chunks(at, id, { limit: 100, cursor })));
}

function row(document: Document) {
  return {
    document: document.document_id,
    name: placeOf(document),
    status: document.status,
    size: inBytes(document.size_bytes),
    passages: document.chunk_count,
    uploaded: inTime(document.uploaded_at),
    error: document.error ?? "",
  };
}

function details(terminal: Terminal, document: Document): string {
  const {
    chunking_strategy,
    metadata,
    sha256,
    version,
    uploaded_at,
    uploaded_by,
    indexed_at,
    error,
    source,
    attempts,
  } = document;
  const text = fields(terminal, {
    document: document.document_id,
    in: `${document.repository_id}/${document.collection_id}`,
    name: document.name,
    source: source.uri,
    status: document.status,
    tries: document.status === "indexed" || attempts === 0 ? undefined : attempts,
    size: inBytes(document.size_bytes),
    version,
    passages: document.chunk_count,
    chunking: chunking_strategy === null ? undefined : describeChunking(chunking_strategy),
    metadata: Object.keys(metadata).length === 0 ? undefined : JSON.stringify(metadata),
    sha256: sha256 ?? undefined,
    access: accessText(document),
    uploaded: `${inTime(uploaded_at)} by ${uploaded_by}`,
    indexed: inTime(indexed_at),
  });
  return error === null ? text : `${text}\n\n${styled(terminal, "red", oneLine(error))}`;
}

interface ShownPassage {
  readonly index: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly page?: number;
  readonly section?: string;
}

/** Full chunks, each with its position in the text. */
export function passagesText(terminal: Terminal, passages: readonly ShownPassage[]): string {
  return passages
    .map(({ index, text, start, end, page, section }) => {
      const place = [
        `${start}–${end}`,
        ...(page === undefined ? [] : [`page ${page}`]),
        ...(section === undefined ? [] : [section]),
      ].join(" · ");
      const columns = Math.max(20, (terminal.columns ?? 100) - 2);
      const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [""] : wrapped(line, columns)));
      return `${styled(terminal, "bold", `#${index}`)}  ${styled(terminal, "dim", oneLine(place))}\n${lines.map((line) => `  ${line}`.trimEnd()).join("\n")}`;
    })
    .join("\n\n");
}
