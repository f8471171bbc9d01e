/**
 * Resources: collections, documents and cited excerpts; workflows, checkpoints and sessions. Resources that the caller may not see are
 * reported as missing.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type McpServer,
  type ReadResourceResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { CollectionRef, DocumentText, KnowledgeApi, StateApi } from "@pinakes/client";
import { hasCode, invalid, PinakesError } from "../domain/errors.ts";
import type { ToolFailure } from "./call-tool.ts";
import { collectionUri, templates } from "./uris.ts";

type Apis = { readonly knowledge: KnowledgeApi; readonly state: StateApi };
type ApisOf = (ctx: ServerContext | undefined) => Apis;
type Variables = Readonly<Record<string, string>>;
type Contents = { readonly mimeType: string; readonly text: string };

const listMax = 200;
const pageItems = 100;
/** Maximum of one document that a model can read at once; the rest is available as excerpts. */
const textCharsMax = 1_000_000;
const completionsMax = 100;

interface ResourceKind {
  readonly name: string;
  readonly uriTemplate: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  read(apis: Apis, variables: Variables): Promise<Contents>;
}

const json = (value: unknown): Contents => ({ mimeType: "application/json", text: JSON.stringify(value) });

const kinds: readonly ResourceKind[] = [
  {
    name: "collection",
    uriTemplate: templates.collection,
    title: "Collection",
    description: "A collection with its counters, and its first 100 documents.",
    mimeType: "application/json",
    read: async ({ knowledge }, variables) => {
      const at = refOf(variables);
      const collection = await knowledge.collections.get(at);
      return json({ collection, documents: (await knowledge.documents.list(at, { limit: pageItems })).items });
    },
  },
  {
    name: "document",
    uriTemplate: templates.document,
    title: "Document",
    description: `The extracted text of a document; at most ${textCharsMax} characters.`,
    mimeType: "text/plain",
    read: async ({ knowledge }, variables) => ({
      mimeType: "text/plain",
      text: await textOf(knowledge, refOf(variables), variables["document"] ?? ""),
    }),
  },
  {
    name: "excerpt",
    uriTemplate: templates.excerpt,
    title: "Excerpt",
    description: "The text between two positions of a version of a document: what a citation points to.",
    mimeType: "text/plain",
    read: async ({ knowledge }, variables) => {
      const window = {
        version: whole(variables, "version"),
        start: whole(variables, "start"),
        end: whole(variables, "end"),
      };
      const { text } = await knowledge.documents.text(refOf(variables), variables["document"] ?? "", window);
      return { mimeType: "text/plain", text };
    },
  },
  {
    name: "workflow",
    uriTemplate: templates.workflow,
    title: "Workflow",
    description: "A workflow with its agents and latest checkpoints.",
    mimeType: "application/json",
    read: async ({ state }, variables) => json(await state.workflows.get(variables["workflow"] ?? "")),
  },
  {
    name: "checkpoint",
    uriTemplate: templates.checkpoint,
    title: "Checkpoint",
    description: 'A checkpoint of a workflow by its step, or "latest".',
    mimeType: "application/json",
    read: async ({ state }, variables) => {
      const step = variables["step"] === "latest" ? "latest" : whole(variables, "step");
      return json(await state.workflows.checkpointAt(variables["workflow"] ?? "", step));
    },
  },
  {
    name: "session",
    uriTemplate: templates.session,
    title: "Session",
    description: "The first 100 messages of a session of an agent, in order.",
    mimeType: "application/json",
    read: async ({ state }, variables) => {
      const [agent, session] = [variables["agent"] ?? "", variables["session"] ?? ""];
      const summary = await state.memories.session(agent, session);
      return json({
        session: summary,
        messages: await state.memories.list(agent, { session_id: session, limit: pageItems }),
      });
    },
  },
  {
    name: "receipt",
    uriTemplate: templates.receipt,
    title: "Receipt of an erasure",
    description: "The signed receipt of an erasure that has ended, by the id of the erasure. For admins.",
    mimeType: "application/json",
    read: async ({ knowledge }, variables) => json(await knowledge.receipts.get(variables["erasure"] ?? "")),
  },
];

export function registerResources(server: McpServer, apisOf: ApisOf, onFailure: ToolFailure): void {
  for (const kind of kinds) {
    const { name, title, description, mimeType } = kind;
    const template = new ResourceTemplate(kind.uriTemplate, {
      list:
        name === "collection"
          ? async (ctx) => ({ resources: await listed(apisOf(ctx).knowledge, onFailure) })
          : undefined,
      complete: completers(apisOf, onFailure),
    });
    server.registerResource(name, template, { title, description, mimeType }, async (uri, variables, ctx) =>
      read(kind, apisOf(ctx), uri, variables).catch((error: unknown) => {
        throw protocolError(error, onFailure);
      }),
    );
  }
}

async function read(
  kind: ResourceKind,
  apis: Apis,
  uri: URL,
  variables: Readonly<Record<string, string | string[]>>,
): Promise<ReadResourceResult> {
  try {
    const decoded = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, decodeURIComponent(String(value))]),
    );
    const { text, mimeType } = await kind.read(apis, decoded);
    return { contents: [{ uri: uri.href, mimeType, text }] };
  } catch (error) {
    if (isAbsent(error) || error instanceof URIError) throw new ResourceNotFoundError(uri.href);
    throw error;
  }
}

/** What only admins may read does not exist for others. */
function isAbsent(error: unknown): boolean {
  return hasCode(error, "NOT_FOUND", "GONE", "INVALID", "FORBIDDEN");
}

/** The detail says what to do; a failure of ours is logged and not explained. */
function protocolError(error: unknown, onFailure: ToolFailure): Error {
  if (error instanceof ProtocolError) return error;
  if (PinakesError.isInstance(error) && error.status < 500)
    return new ProtocolError(ProtocolErrorCode.InvalidRequest, `${error.code}: ${error.detail}`);
  onFailure(error, "resources");
  return new ProtocolError(ProtocolErrorCode.InternalError, "The server failed. Try again.");
}

async function listed(knowledge: KnowledgeApi, onFailure: ToolFailure) {
  const found = [];
  for (let cursor: string | undefined; ;) {
    const page = await knowledge.collections.list({ limit: pageItems, cursor }).catch((error: unknown) => {
      throw protocolError(error, onFailure);
    });
    found.push(...page.items);
    cursor = page.next_cursor ?? undefined;
    if (cursor === undefined || found.length >= listMax) break;
  }
  return found.slice(0, listMax).map((collection) => ({
    uri: collectionUri(collection),
    name: `${collection.repository_id}/${collection.collection_id}`,
    title: collection.name,
    description: `${collection.document_count} document(s), ${collection.indexing_status}`,
    mimeType: "application/json",
  }));
}

type Completer = (value: string, context?: { arguments?: Record<string, string> }) => Promise<string[]>;
type Names = (apis: Apis, filled: Readonly<Record<string, string>>) => Promise<readonly string[]>;

/** Variables whose ids can be completed; for the others there are no suggestions. */
const completions: Readonly<Record<string, Names>> = {
  repository: async ({ knowledge }) => [
    "me",
    ...(await knowledge.repositories.list({ limit: pageItems })).items.map((one) => one.repository_id),
  ],
  collection: async ({ knowledge }, { repository }) =>
    (await knowledge.collections.list({ limit: pageItems, repository })).items.map((one) => one.collection_id),
  document: async ({ knowledge }, { repository, collection }) => {
    if (repository === undefined || collection === undefined) return [];
    const { items } = await knowledge.documents.list({ repository, collection }, { limit: pageItems });
    return items.map((one) => one.document_id);
  },
  version: async ({ knowledge }, { repository, collection, document }) => {
    if (repository === undefined || collection === undefined || document === undefined) return [];
    const versions = await knowledge.documents.versions({ repository, collection }, document);
    return versions.map(({ version }) => String(version));
  },
  workflow: async ({ state }) => (await state.workflows.list({ limit: pageItems })).items.map((one) => one.workflow_id),
  step: async ({ state }, { workflow }) => {
    if (workflow === undefined) return [];
    const { items } = await state.workflows.checkpoints(workflow, { limit: pageItems, order: "desc" });
    return ["latest", ...items.map(({ step }) => String(step))];
  },
  agent: async ({ state }) => (await state.memories.agents({ limit: pageItems })).items.map((one) => one.agent_id),
  erasure: async ({ knowledge }) =>
    (await knowledge.erasures.list({ limit: pageItems })).items.flatMap(({ erasure_id, receipt_id }) =>
      receipt_id === null ? [] : [erasure_id],
    ),
  session: async ({ state }, { agent }) =>
    agent === undefined
      ? []
      : (await state.memories.sessions(agent, { limit: pageItems })).items.map((one) => one.session_id),
};

function completers(apisOf: ApisOf, onFailure: ToolFailure): Record<string, Completer> {
  const completer =
    (of: Names): Completer =>
    async (value, context) => {
      try {
        return starting(await of(apisOf(undefined), context?.arguments ?? {}), value);
      } catch (error) {
        // Within something that does not exist there is nothing to offer.
        if (isAbsent(error)) return [];
        throw protocolError(error, onFailure);
      }
    };
  return Object.fromEntries(Object.entries(completions).map(([variable, of]) => [variable, completer(of)]));
}

function starting(names: readonly string[], value: string): string[] {
  return [...new Set(names)].filter((name) => name.startsWith(value)).slice(0, completionsMax);
}

function refOf(variables: Variables): CollectionRef {
  return { repository: variables["repository"] ?? "", collection: variables["collection"] ?? "" };
}

function whole(variables: Variables, name: string): number {
  const value = Number(variables[name]);
  if (!Number.isSafeInteger(value) || value < 0) throw invalid(`${name}: must be a whole number.`);
  return value;
}

async function textOf(knowledge: KnowledgeApi, at: CollectionRef, documentId: string): Promise<string> {
  let text = "";
  let version: number | undefined;
  for (let start: number | null = 0; start !== null && text.length < textCharsMax;) {
    const window: DocumentText = await knowledge.documents.text(at, documentId, { start, version });
    text += window.text;
    start = window.next_start;
    // A new version that appears meanwhile has other text at the same positions.
    ({ version } = window);
  }
  return text.length <= textCharsMax ? text : wholeCharacters(text.slice(0, textCharsMax));
}

/** Without the first half of a surrogate pair at the end. */
function wholeCharacters(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
