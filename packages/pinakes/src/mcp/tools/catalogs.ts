/**
 * The ten tools of the knowledge-base agent, as `catalogs/` defines them. MCP adds two things: without a session, a selection is identified
 * by a handle that select_catalog returns; and deletes ask the client's user first.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import {
  CatalogEnvelopeSchema,
  catalogTools,
  enveloped,
  inputError,
  openDocument,
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
  readonly catalog_id: string;
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
  const refused = (args: object): ToolAnswer | undefined => {
    const error = inputError(input, args);
    return error === undefined ? undefined : answerOf(error);
  };
  return defineTool({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    input,
    checksInput: true,
    output: CatalogEnvelopeSchema,
    annotations: tool.annotations,
    ...(deletes
      ? {
          consequence: async (context, args) => {
            const answer = refused(args);
            return answer === undefined ? deletion(tool, context, args as unknown as CatalogArgs) : { answer };
          },
        }
      : {}),
    run: async (context, args) => refused(args) ?? run(tool, context, args as unknown as CatalogArgs),
  });
}

async function run(tool: CatalogTool, context: ToolContext, args: CatalogArgs): Promise<ToolAnswer> {
  const { selection_handle: given, ...all } = args;
  const { confirm: confirmed, ...rest } = all;
  const minted = tool.name === "select_catalog" && given === undefined && context.sessionId === undefined;
  const name = minted ? randomUUID() : (given ?? context.sessionId);
  const own = "confirm" in tool.input.shape && confirmed !== undefined ? all : rest;
  const envelope = await tool.run(contextOf(context, name), own as never);
  if (!minted || envelope.metadata["active"] !== true) return answerOf(envelope);
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

const Target = z.looseObject({
  catalog_name: z.string().optional(),
  document_count: z.number().default(1),
  filename: z.string().optional(),
});

/** What would be deleted, or why nothing can be; undefined if the caller confirmed. */
async function deletion(tool: CatalogTool, context: ToolContext, args: CatalogArgs): Promise<Consequence | undefined> {
  if (args.confirm === true) return undefined;
  const found = await target(tool, contextOf(context, undefined), args);
  if (found.status === "error" && found.metadata.error_code !== "CONFIRMATION_REQUIRED")
    return { answer: answerOf(found) };
  const { catalog_name, document_count, filename } = Target.parse(found.metadata);
  const documents = document_count === 1 ? "its document" : `its ${document_count} documents`;
  const what = filename === undefined ? `the catalog "${catalog_name}" with ${documents}` : `"${filename}"`;
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
        would_delete: document_count,
      },
    }),
    confirmed: { ...args, confirm: true },
  };
}

/** A catalog as its unconfirmed delete describes it, or a document. */
function target(tool: CatalogTool, context: CatalogContext, args: CatalogArgs): Promise<CatalogEnvelope> {
  const { catalog_id, document_id } = args;
  if (document_id === undefined) return tool.run(context, { catalog_id, confirm: false } as never);
  return enveloped(async () => {
    const { name } = await openDocument(context, catalog_id, document_id);
    return { text: name, metadata: { filename: name } };
  });
}
