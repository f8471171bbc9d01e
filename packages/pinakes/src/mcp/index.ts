/** MCP: tools and resources over the client's interface. The transports are `http/mcp/` and `stdio.ts`. */
export { allChanges, followResources, wantedFor } from "./resource-changes.ts";
export { createMcpServer, type McpExtension } from "./server.ts";
export { serveMcpOnStdio } from "./stdio.ts";
export type { McpSession } from "./tool.ts";
export { collectionUri, documentUri, sessionUri, workflowUri } from "./uris.ts";
