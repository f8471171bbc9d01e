/** A started server with clients as LISA's programs are. */
import { serve, type RunningServer } from "../../../src/http/serve.ts";
import type { OpenOptions } from "../../../src/open.ts";
import { openTestServer, type KeyWishes, type TestServer } from "../../http/support/server.ts";
import { until } from "../../support/until.ts";
import { LisaClient, uploadDocument } from "./lisa-client.ts";
import type { Json } from "../../http/support/server.ts";

export const model = "all-MiniLM-L6-v2";

export interface LisaWorld extends AsyncDisposable {
  readonly server: TestServer;
  readonly url: string;
  client(user: string, wishes?: KeyWishes, workspace?: string): Promise<LisaClient>;
}

export async function lisaWorld(options: OpenOptions = {}): Promise<LisaWorld> {
  const server = await openTestServer("sqlite", options);
  const running: RunningServer = await serve(server.app, { host: "127.0.0.1", port: 0 });
  return {
    server,
    url: running.url,
    client: async (user, wishes = {}, workspace = "w1") =>
      new LisaClient(running.url, await server.key(workspace, user, wishes)),
    [Symbol.asyncDispose]: async () => {
      await running.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Staged, ingested, and there: the document of the job. */
export async function ingested(
  client: LisaClient,
  repository: string,
  collection: string,
  name: string,
  content: string,
): Promise<Json> {
  const link = await client.presignedUrl(name);
  await uploadDocument(link, name, content);
  const [job] = await client.ingestDocument(repository, model, link.key, collection);
  return until(async () =>
    (await client.listDocuments(repository, collection)).find(({ source }) => source === job?.["s3Path"]),
  );
}
