/** A started server with the official client of Cosmos DB, unmodified, on an engine that servers run on. */
import { CosmosClient, type Container, type CosmosClientOptions, type ContainerRequest } from "@azure/cosmos";
import type { AppOptions } from "../../../src/http/app.ts";
import { serve, type RunningServer } from "../../../src/http/serve.ts";
import type { OpenOptions } from "../../../src/open.ts";
import { openTestServer, rootToken, type KeyWishes, type TestServer } from "../../http/support/server.ts";

export interface AccountKey {
  readonly key_id: string;
  readonly account_key: string;
  readonly key: string;
}

export interface CosmosWorld extends AsyncDisposable {
  readonly server: TestServer;
  /** Of the facade. */
  readonly url: string;
  accountKey(workspace: string, wishes?: KeyWishes): Promise<AccountKey>;
  client(key: AccountKey, options?: Partial<CosmosClientOptions>): CosmosClient;
  /** A container in a database of its own. */
  container(client: CosmosClient, request?: Partial<ContainerRequest>): Promise<Container>;
}

export async function cosmosWorld(options: OpenOptions = {}, app: AppOptions = {}): Promise<CosmosWorld> {
  const server = await openTestServer("sqlite", options, app);
  const running: RunningServer = await serve(server.app, { host: "127.0.0.1", port: 0 });
  const url = `${running.url}/cosmos`;
  const clients: CosmosClient[] = [];
  let number = 0;
  return {
    server,
    url,
    accountKey: async (workspace_id, wishes = {}) => {
      const body = { workspace_id, user_id: "cosmos", account: true, ...wishes };
      const made = await server.call("POST", "/v1/keys", { key: rootToken, body });
      if (made.status !== 201) throw new Error(`no key was made: ${made.text}`);
      return made.json as unknown as AccountKey;
    },
    client: ({ account_key: key }, more = {}) => {
      const connectionPolicy = { enableBackgroundEndpointRefreshing: false, ...more.connectionPolicy };
      const client = new CosmosClient({ endpoint: url, key, ...more, connectionPolicy });
      clients.push(client);
      return client;
    },
    container: async (client, request = {}) => {
      const { database } = await client.databases.create({ id: `Base ${(number += 1)}` });
      const definition = { id: "Things", partitionKey: { paths: ["/pk"] }, ...request };
      return (await database.containers.create(definition)).container;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.dispose();
      await running.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

export async function refused(
  promise: Promise<unknown>,
): Promise<{ code: number; substatus?: number; message: string }> {
  try {
    await promise;
  } catch (error) {
    return error as { code: number; substatus?: number; message: string };
  }
  throw new Error("expected an error, but the call succeeded");
}
