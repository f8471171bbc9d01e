/** The configuration that an MCP client needs to start `pinakes mcp`. */
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

export interface InstallSettings {
  /** A server; without one, clients open the stores of this machine. */
  readonly url: string | undefined;
  readonly key: string | undefined;
  /** Environment variables for the stores of this machine, with absolute paths: clients start servers in any folder. */
  readonly stores: Readonly<Record<string, string>>;
  /** Options that specify the user on those stores. */
  readonly actor: readonly string[];
}

export interface McpClient {
  readonly name: string;
  /** The file or setting it belongs to. */
  readonly place: string;
  configure(settings: InstallSettings): { readonly client: string; readonly place: string; readonly text: string };
}

const entry = fileURLToPath(new URL(`../pinakes${extname(import.meta.filename)}`, import.meta.url));
const name = "pinakes";

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** This Node and this file, with absolute paths: clients do not start servers from the user's shell. */
function launch({ url, key, stores, actor }: InstallSettings): Launch {
  const server = { ...(url !== undefined && { PINAKES_URL: url }), ...(key !== undefined && { PINAKES_KEY: key }) };
  const env = url === undefined ? stores : server;
  return {
    command: process.execPath,
    args: [entry, "mcp", ...(url === undefined ? actor : [])],
    ...(Object.keys(env).length === 0 ? {} : { env }),
  };
}

function jsonClient(client: string, place: string, wrap: (server: Launch) => object): McpClient {
  return {
    name: client,
    place,
    configure: (settings) => ({ client, place, text: JSON.stringify(wrap(launch(settings)), undefined, 2) }),
  };
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function shellClient(client: string, add: (server: Launch) => readonly string[]): McpClient {
  const place = "in a shell";
  return {
    name: client,
    place,
    configure: (settings) => ({ client, place, text: add(launch(settings)).map(shellWord).join(" ") }),
  };
}

const variables = ({ env = {} }: Launch, flag: string): string[] =>
  Object.entries(env).flatMap(([key, value]) => [flag, `${key}=${value}`]);

export const mcpClients: readonly McpClient[] = [
  jsonClient("Claude Desktop", "claude_desktop_config.json (Settings → Developer → Edit Config)", (server) => ({
    mcpServers: { [name]: server },
  })),
  shellClient("Claude Code", (server) => [
    "claude",
    "mcp",
    "add",
    ...variables(server, "--env"),
    // --env takes several values, and would also consume the name.
    "--transport",
    "stdio",
    name,
    "--",
    server.command,
    ...server.args,
  ]),
  jsonClient("Cursor", "~/.cursor/mcp.json, or .cursor/mcp.json of a project", (server) => ({
    mcpServers: { [name]: server },
  })),
  jsonClient("VS Code", ".vscode/mcp.json of a workspace", (server) => ({
    servers: { [name]: { type: "stdio", ...server } },
  })),
  jsonClient("Windsurf", "~/.codeium/windsurf/mcp_config.json", (server) => ({ mcpServers: { [name]: server } })),
  jsonClient("Zed", "settings.json", (server) => ({ context_servers: { [name]: { source: "custom", ...server } } })),
  shellClient("Codex CLI", (server) => [
    "codex",
    "mcp",
    "add",
    name,
    ...variables(server, "--env"),
    "--",
    server.command,
    ...server.args,
  ]),
  jsonClient("Gemini CLI", "~/.gemini/settings.json", (server) => ({ mcpServers: { [name]: server } })),
];

export function installText(settings: InstallSettings): string {
  const parts = mcpClients.map((client) => {
    const { place, text } = client.configure(settings);
    return `${client.name}: ${place}\n\n${text.replaceAll(/^/gm, "  ")}`;
  });
  const http =
    settings.url === undefined
      ? "Clients that speak HTTP connect to /mcp of a running server (npm start), with the key as a bearer token."
      : `Clients that speak HTTP connect to ${settings.url.replace(/\/$/, "")}/mcp, with the key as a bearer token.`;
  return [...parts, http].join("\n\n");
}
