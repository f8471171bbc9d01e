/** How long an answer waits for a body that nobody reads; with whole files through a whole server: test/http/refused-uploads.test.ts. */
import { request, type ClientRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer, type Http2Bindings, type HttpBindings } from "@hono/node-server";
import { afterEach, describe, expect, it } from "vitest";
import { answeringLast, type UnreadOptions } from "./unread-body.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Begun {
  readonly client: ClientRequest;
  /** Of the server, when it has refused the request. */
  readonly outgoing: ServerResponse;
  readonly status: Promise<number | undefined>;
}

/** A server that refuses everything, and a client that has sent nothing yet but its headers. */
async function begin(options: UnreadOptions, headers: Readonly<Record<string, string>>): Promise<Begun> {
  const refused = Promise.withResolvers<ServerResponse>();
  const refuse = (_request: Request, { outgoing }: HttpBindings | Http2Bindings): Response => {
    refused.resolve(outgoing as ServerResponse);
    return new Response("no", { status: 401 });
  };
  const server = createAdaptorServer({ fetch: answeringLast(refuse, options) }) as Server;
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", method: "POST", headers });
  const answered = Promise.withResolvers<IncomingMessage>();
  client.on("response", answered.resolve);
  client.on("error", answered.reject);
  client.flushHeaders();
  const status = answered.promise.then((response) => response.resume().statusCode);
  return { client, outgoing: await refused.promise, status };
}

const forEver = 600_000;

describe("http: an answer to a request whose body nobody reads", () => {
  it("waits until the last byte of a body of the greatest length came", async () => {
    const { client, outgoing, status } = await begin(
      { droppedBytesMax: 1_000, silentMsMax: forEver },
      { "content-length": "1000" },
    );
    await new Promise((resolve) => void client.write(Buffer.alloc(999), resolve));
    // Nothing that the server can still do makes it answer before the last byte.
    expect(outgoing.headersSent).toBe(false);
    client.end(Buffer.alloc(1));
    expect(await status).toBe(401);
  });

  it("does not wait for a longer one, nor for one that does not say how long it is", async () => {
    const options = { droppedBytesMax: 1_000, silentMsMax: forEver };
    expect(await (await begin(options, { "content-length": "1001" })).status).toBe(401);
    expect(await (await begin(options, { "transfer-encoding": "chunked" })).status).toBe(401);
  });

  it("comes all the same when the client sends nothing for a while", async () => {
    const { client, status } = await begin({ droppedBytesMax: 1_000, silentMsMax: 1 }, { "content-length": "1000" });
    client.write(Buffer.alloc(10));
    expect(await status).toBe(401);
  });
});
