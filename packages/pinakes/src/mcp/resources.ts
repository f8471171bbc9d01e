/** Resources: collections, documents and cited excerpts; workflows, checkpoints and sessions. What the caller may not see does not exist. */
import {
  ResourceNotFoundError,
  ResourceTemplate,
  type McpServer,
  type ReadResourceResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { CollectionRef, KnowledgeApi, StateApi } from "@pinakes/client";
import { hasCode, invalid } from "../domain/errors.ts";
import { collectionUri, templates } from "./uris.ts";

type Apis = { readonly knowledge: KnowledgeApi; readonly state: StateApi };
type ApisOf = (ctx: ServerContext | undefined) => Apis;
type Variables = Readonly<Record<string, string>>;
type Contents = { readonly mimeType: string; readonly text: string };

const listMax = 200;
const pageItems = 100;
/** Of one document: what a model can read at once; the rest is in excerpts. */
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
    description: `The text of a document, as searches read it; at most ${textCharsMax} characters.`,
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
];

export function registerResources(server: McpServer, apisOf: ApisOf): void {
  for (const kind of kinds) {
    const { name, title, description, mimeType } = kind;
    const template = new ResourceTemplate(kind.uriTemplate, {
      list: name === "collection" ? async (ctx) => ({ resources: await listed(apisOf(ctx).knowledge) }) : undefined,
      complete: completers(apisOf),
    });
    server.registerResource(name, template, { title, description, mimeType }, async (uri, variables, ctx) =>
      read(kind, apisOf(ctx), uri, variables),
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
    if (hasCode(error, "NOT_FOUND", "GONE", "INVALID") || error instanceof URIError)
      throw new ResourceNotFoundError(uri.href);
    throw error;
  }
}

async function listed(knowledge: KnowledgeApi) {
  const found = [];
  for (let cursor: string | undefined; ;) {
    const page = await knowledge.collections.list({ limit: pageItems, cursor });
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

function completers(apisOf: ApisOf): Record<string, Completer> {
  const knowledge = () => apisOf(undefined).knowledge;
  const state = () => apisOf(undefined).state;
  return {
    repository: async (value) =>
      starting(
        ["me", ...(await knowledge().repositories.list({ limit: pageItems })).items.map((one) => one.repository_id)],
        value,
      ),
    collection: async (value, context) => {
      const repository = context?.arguments?.["repository"];
      const { items } = await knowledge().collections.list({ limit: pageItems, repository });
      return starting(
        items.map((one) => one.collection_id),
        value,
      );
    },
    document: async (value, context) => {
      const { repository, collection } = context?.arguments ?? {};
      if (repository === undefined || collection === undefined) return [];
      const { items } = await knowledge().documents.list({ repository, collection }, { limit: pageItems });
      return starting(
        items.map((one) => one.document_id),
        value,
      );
    },
    workflow: async (value) =>
      starting(
        (await state().workflows.list({ limit: pageItems })).items.map((one) => one.workflow_id),
        value,
      ),
    session: async (value, context) => {
      const agent = context?.arguments?.["agent"];
      if (agent === undefined) return [];
      return starting(
        (await state().memories.sessions(agent, { limit: pageItems })).items.map((one) => one.session_id),
        value,
      );
    },
  };
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
  for (let start: number | null = 0; start !== null && text.length < textCharsMax;) {
    const window = await knowledge.documents.text(at, documentId, { start });
    text += window.text;
    start = window.next_start;
  }
  return text.slice(0, textCharsMax);
}
