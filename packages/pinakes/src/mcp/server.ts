/** An MCP server for one caller: the same tools and resources on both revisions of the protocol, over HTTP and on stdio. */
import { McpServer, requireScopes, type McpServerOptions } from "@modelcontextprotocol/server";
import { callTool, type ToolFailure } from "./call-tool.ts";
import { registerResources } from "./resources.ts";
import { standardSchema } from "./standard-schema.ts";
import type { McpSession } from "./tool.ts";
import { tools } from "./tools/index.ts";

export interface ServerInput {
  readonly session: McpSession;
  readonly version: string;
  readonly onFailure?: ToolFailure | undefined;
  /** More tools, prompts and resources; what the conformance suite asks for is registered this way. */
  readonly extend?: McpExtension | undefined;
}

export interface McpExtension {
  readonly options?: McpServerOptions;
  register(server: McpServer): void;
}

const instructions = `Pinakes keeps what agents know (documents in collections, triples) and what they did (workflows, memories, metrics, tool calls).
Use search for questions about documents and cite the hits; verify_citation checks a quote before you rely on it.
Use workflow_* to record long work so that it survives a crash, and memory_* to remember conversations.
Catalogs are the user's own collections: create_catalog, upload_to_catalog, select_catalog, query_catalog.`;

/** Elements of a call's arguments, nested ones included. */
const toolInputElementsMax = 100_000;

export function createMcpServer({ session, version, onFailure = () => {}, extend }: ServerInput): McpServer {
  const server = new McpServer(
    { name: "pinakes", title: "Pinakes", version },
    {
      instructions,
      maxToolInputElements: toolInputElementsMax,
      ...extend?.options,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        ...extend?.options?.capabilities,
      },
    },
  );
  for (const tool of tools) {
    const { name, title, description, annotations } = tool;
    const config = {
      title,
      description,
      annotations,
      inputSchema: standardSchema(tool.input),
      outputSchema: standardSchema(tool.output),
      ...(session.writeScope === undefined || annotations.readOnlyHint
        ? {}
        : { scopeChallenge: requireScopes(session.writeScope) }),
    };
    server.registerTool(name, config, async (args, ctx) =>
      callTool(tool, args as object, ctx, { session, capabilities: server.server.getClientCapabilities(), onFailure }),
    );
  }
  registerResources(server, session);
  extend?.register(server);
  return server;
}
