/** MCP on stdin and stdout: one connection, one user, until the client closes stdin. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { CatalogSelection, SelectionSlot } from "../catalogs/index.ts";
import { createMcpServer, type ServerInput } from "./server.ts";
import type { McpSession } from "./tool.ts";

export interface StdioInput extends Pick<ServerInput, "version" | "onFailure"> {
  readonly session: Omit<McpSession, "selection">;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

/** The limit of a message over HTTP; the SDK's default is less than an upload may need. */
const messageBytesMax = 16 * 1_048_576;

/** Resolves when the client has closed the connection, or has sent a message beyond the limit. */
export async function serveMcpOnStdio({ session, signal, ...input }: StdioInput): Promise<void> {
  const selections = new Map<string, SelectionSlot>();
  const selection = (id: string): SelectionSlot => {
    const known = selections.get(id) ?? slotInMemory();
    selections.set(id, known);
    return known;
  };
  const ended = Promise.withResolvers<void>();
  process.stdin.once("end", ended.resolve).once("close", ended.resolve);
  // The SDK adds an error listener for each response being written, and there may be many at once.
  process.stdout.setMaxListeners(0);
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: messageBytesMax });
  const close = transport.close.bind(transport);
  transport.close = async () => {
    await close();
    ended.resolve();
  };
  signal.addEventListener("abort", () => ended.resolve());
  const connected: McpSession = { ...session, selection, connectionId: "stdio" };
  const connection = serveStdio(() => createMcpServer({ ...input, sessionOf: () => connected }), { transport });
  await ended.promise;
  await connection.close();
}

/** The process is the session: its catalog selection ends with it. */
function slotInMemory(): SelectionSlot {
  let selected: CatalogSelection | null = null;
  return {
    get: async () => selected,
    set: async (next) => {
      selected = next;
    },
    clear: async () => {
      selected = null;
    },
  };
}
