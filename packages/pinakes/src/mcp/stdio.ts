/** MCP on stdin and stdout: one connection, one user, until the client closes stdin. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import type { CatalogSelection, SelectionSlot } from "../catalogs/index.ts";
import { createMcpServer, type ServerInput } from "./server.ts";
import { StdioSubscriptions } from "./stdio-subscriptions.ts";
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
  const over = new AbortController();
  const subscriptions = new StdioSubscriptions({
    session,
    signal: over.signal,
    onFailure: input.onFailure ?? (() => {}),
  });
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    const uris = acknowledgedUris(message);
    // Before the acknowledgement: every change after it is told.
    if (uris !== undefined) await subscriptions.follow(uris);
    await send(message);
  };
  const connection = serveStdio(
    ({ era }) => {
      const server = createMcpServer({ ...input, sessionOf: () => connected });
      subscriptions.serve(server, era);
      return server;
    },
    { transport },
  );
  await ended.promise;
  over.abort();
  await connection.close();
}

const Acknowledgement = z.object({
  method: z.literal("notifications/subscriptions/acknowledged"),
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()).default([]) }) }),
});

/** Of subscriptions at 2026-07-28, which the SDK keeps; undefined for any other message. */
function acknowledgedUris(message: unknown): readonly string[] | undefined {
  return Acknowledgement.safeParse(message).data?.params.notifications.resourceSubscriptions;
}

/** The process is the session: what it selected ends with it. */
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
