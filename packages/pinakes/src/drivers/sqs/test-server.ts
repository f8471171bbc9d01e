/** For tests: a real server of the SQS API, in memory, deleted by `stop`. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { buildApp } from "fauxqs";

export interface SqsServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** What a client of a local server needs besides its address. */
export const testConnection = Object.freeze({
  region: "us-east-1",
  credentials: Object.freeze({ accessKeyId: "test", secretAccessKey: "test" }),
});

export async function startSqs(): Promise<SqsServer> {
  const port = await freePort();
  const app = buildApp({ logger: false });
  await app.listen({ host: "127.0.0.1", port });
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => app.close() };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
