/** `pinakes mcp`: tools and resources for an MCP client that starts this process and speaks to it on stdin and stdout. */
import { serveMcpOnStdio } from "../../mcp/index.ts";
import { remoteOf, withClient } from "../client-session.ts";
import { actorOptions, type ActorOption } from "../session.ts";
import { readConfig } from "../../config.ts";
import { defineCommand, type Call, type Group } from "../terminal/command.ts";
import { installText, mcpClients } from "./mcp-install.ts";

const command = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "serve MCP on stdin and stdout",
  details:
    "For desktop clients and editors that start MCP servers themselves. Uses the stores of this machine, through the server that runs on them, or another server (--url, --key). A client that speaks HTTP connects to /mcp of the server.",
  options: {
    install: {
      type: "boolean",
      help: `print the configuration for ${mcpClients.map(({ name }) => name).join(", ")}`,
    },
    ...actorOptions,
  },
  examples: ["pinakes mcp --install", "pinakes mcp", "pinakes mcp --url https://pinakes.example.com --key pk_…"],
  run: async (call) => {
    const { given, terminal } = call;
    if (given.has("install")) {
      const remote = remoteOf(call);
      const key = typeof remote?.apiKey === "string" ? remote.apiKey : undefined;
      const settings = { url: remote?.url, key, stores: storesOf(call), actor: actorArguments(call) };
      return { answer: mcpClients.map((client) => client.configure(settings)), show: () => installText(settings) };
    }
    return withClient(
      call,
      async ({ knowledge, state }) => {
        const [{ user_id, read_only }, { version }] = await Promise.all([
          knowledge.server.me(),
          knowledge.server.info(),
        ]);
        await serveMcpOnStdio({
          session: { knowledge, state, userId: user_id, readOnly: read_only },
          version,
          signal: terminal.signal,
          onFailure: (error, tool) =>
            terminal.err(`${tool}: ${error instanceof Error ? error.message : String(error)}\n`),
        });
        return { answer: null, show: () => "" };
      },
      { background: true, endsItself: true, creates: true },
    );
  },
});

const storeVariables = ["PINAKES_DATABASE", "PINAKES_ITEMS", "PINAKES_OBJECTS", "PINAKES_QUEUE"];

function storesOf({ terminal: { env } }: Call<ActorOption>): Readonly<Record<string, string>> {
  const chosen = storeVariables.flatMap((name) => {
    const value = env[name];
    return value === undefined || value === "" ? [] : [[name, value]];
  });
  return { PINAKES_DATA: readConfig(env).stores.data, ...Object.fromEntries(chosen) };
}

function actorArguments({ given }: Call<ActorOption>): readonly string[] {
  return Object.keys(actorOptions).flatMap((name) => {
    const value = given.text(name as ActorOption);
    return value === undefined ? [] : [`--${name}`, value];
  });
}

export const mcp: Group = { command };
