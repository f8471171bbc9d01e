/**
 * The ten tools of the knowledge-base agent, as `catalogs/` defines them. What MCP adds: a selection without a session is named by a handle
 * that select_catalog returns, and deletes ask the client's user first.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import {
  CatalogEnvelopeSchema,
  catalogTools,
  type CatalogContext,
  type CatalogEnvelope,
  type CatalogTool,
} from "../../catalogs/index.ts";
import { defineTool, type Consequence, type McpTool, type ToolAnswer, type ToolContext } from "../tool.ts";

const handle = z
  .string()
  .min(8)
  .max(128)
  .optional()
  .describe("selection_handle that select_catalog returned; not needed on connections with a session.");
const confirm = z.boolean().optional().describe("true: delete without asking; otherwise the client's user is asked.");

interface CatalogArgs {
  readonly catalog_id?: string;
  readonly document_id?: string;
  readonly selection_handle?: string;
  readonly confirm?: boolean;
}

export const catalogMcpTools: readonly McpTool[] = catalogTools.map(mcpTool);

function mcpTool(tool: CatalogTool): McpTool {
  const selects = tool.name === "select_catalog" || tool.name === "query_catalog";
  const deletes = tool.name.startsWith("delete_");
  const input = tool.input.extend({
    ...(selects ? { selection_handle: handle } : {}),
    ...(deletes ? { confirm } : {}),
  });
  return defineTool({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    input,
    output: CatalogEnvelopeSchema,
    annotations: tool.annotations,
    ...(deletes ? { consequence: (context, args) => deletion(tool, context, args as CatalogArgs) } : {}),
    run: async (context, args) => run(tool, context, args as CatalogArgs),
  });
}

async function run(tool: CatalogTool, context: ToolContext, args: CatalogArgs): Promise<ToolAnswer> {
  const { selection_handle: given, ...all } = args;
  const { confirm: confirmed, ...rest } = all;
  const minted = tool.name === "select_catalog" && given === undefined && context.sessionId === undefined;
  const name = minted ? randomUUID() : (given ?? context.sessionId);
  const own = "confirm" in tool.input.shape && confirmed !== undefined ? all : rest;
  const envelope = await tool.run(contextOf(context, name), own as never);
  if (!minted || envelope.status === "error" || name === undefined) return answerOf(envelope);
  const text = `Pass selection_handle "${name}" to query_catalog.`;
  return answerOf({
    ...envelope,
    content: [...envelope.content, { text }],
    metadata: { ...envelope.metadata, selection_handle: name },
  });
}

function contextOf(context: ToolContext, selection: string | undefined): CatalogContext {
  const { knowledge, userId, signal, baseUrl } = context;
  return {
    knowledge,
    userId,
    signal,
    baseUrl,
    selection: selection === undefined ? undefined : context.selection(selection),
  };
}

function answerOf(envelope: CatalogEnvelope): ToolAnswer {
  return {
    structured: envelope,
    content: envelope.content.map(({ text }) => ({ type: "text", text })),
    isError: envelope.status === "error",
  };
}

/** What would be deleted; undefined where the caller confirmed, or where nothing is there to delete, which the tool itself answers. */
async function deletion(tool: CatalogTool, context: ToolContext, args: CatalogArgs): Promise<Consequence | undefined> {
  if (args.confirm === true || args.catalog_id === undefined) return undefined;
  const list = catalogTools.find(({ name }) => name === "list_catalog_documents") as CatalogTool;
  const listed = await list.run(contextOf(context, undefined), { catalog_id: args.catalog_id } as never);
  if (listed.status === "error") return undefined;
  const documents = Documents.parse(listed.metadata).documents;
  const one = documents.find(({ document_id }) => document_id === args.document_id);
  if (args.document_id !== undefined && one === undefined) return undefined;
  const what =
    one === undefined ? `catalog "${args.catalog_id}" with its ${documents.length} documents` : `"${one.filename}"`;
  const question = `Delete ${what} permanently?`;
  return {
    question,
    dryRun: answerOf({
      content: [{ text: `Nothing was deleted. ${question} Call ${tool.name} again with confirm: true.` }],
      status: "error",
      metadata: {
        tool_type: "knowledge_base",
        error_code: "CONFIRMATION_REQUIRED",
        dry_run: true,
        would_delete: one === undefined ? documents.length : 1,
      },
    }),
    confirmed: { ...args, confirm: true },
  };
}

const Documents = z.looseObject({
  documents: z.array(z.looseObject({ document_id: z.string(), filename: z.string() })),
});
