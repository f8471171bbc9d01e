/** MCP: tools and resources over the client's interface. The transports are `http/mcp/` and `stdio.ts`. */
export { createMcpServer, type McpExtension, type ServerInput } from "./server.ts";
export { serveMcpOnStdio } from "./stdio.ts";
export type { McpSession, McpTool } from "./tool.ts";
export { tools } from "./tools/index.ts";
export { collectionUri, documentUri, sessionUri, workflowUri } from "./uris.ts";
