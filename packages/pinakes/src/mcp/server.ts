/** An MCP server for one caller: the same tools and resources on both revisions of the protocol, over HTTP and on stdio. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  type AuthInfo,
  type ClientCapabilities,
  type McpServerOptions,
  type ScopeChallengeHandler,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { callTool, type ToolFailure } from "./call-tool.ts";
import { registerResources } from "./resources.ts";
import { standardSchema } from "./standard-schema.ts";
import type { McpSession } from "./tool.ts";
import { tools } from "./tools/index.ts";

export interface ServerInput {
  /**
   * The session that a request acts for; the latest one if the protocol does not identify the request. A connection may change its
   * credentials.
   */
  readonly sessionOf: (ctx: ServerContext | undefined) => McpSession;
  /** The OAuth scope that a token lacks for tools that write; undefined if no scope would help. */
  readonly missingScope?: (auth: AuthInfo | undefined) => string | undefined;
  readonly version: string;
  /** Name of the only tool that the server's only request calls: registering all tools costs as much as a search. */
  readonly tool?: string | undefined;
  readonly onFailure?: ToolFailure | undefined;
  /** Additional tools, prompts and resources; the conformance suite registers its own this way. */
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

/** Capabilities of the client of a request under revision 2026-07-28. */
function declaredBy({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

/** Elements of a call's arguments, nested ones included. */
const toolInputElementsMax = 100_000;

export function createMcpServer({
  sessionOf,
  missingScope,
  version,
  tool: calledName,
  onFailure = () => {},
  extend,
}: ServerInput): McpServer {
  const called = extend === undefined ? tools.filter(({ name }) => name === calledName) : [];
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
  const scopeChallenge: ScopeChallengeHandler = ({ authInfo }) => {
    const scope = missingScope?.(authInfo);
    return scope === undefined ? undefined : { scopes: [scope], errorDescription: "This tool writes." };
  };
  for (const tool of called.length > 0 ? called : tools) {
    const { name, title, description, annotations } = tool;
    const config = {
      title,
      description,
      annotations,
      inputSchema: standardSchema(tool.input, { checked: tool.checksInput !== true }),
      outputSchema: standardSchema(tool.output),
      ...(annotations.readOnlyHint ? {} : { scopeChallenge }),
    };
    server.registerTool(name, config, async (args, ctx) =>
      callTool(tool, args as object, ctx, {
        session: sessionOf(ctx),
        // Since 2026-07-28 each request declares them; a stdio connection has no others.
        capabilities: declaredBy(ctx) ?? server.server.getClientCapabilities(),
        onFailure,
      }),
    );
  }
  if (called.length === 0) registerResources(server, sessionOf, onFailure);
  extend?.register(server);
  return server;
}
