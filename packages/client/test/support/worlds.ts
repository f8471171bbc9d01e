/** The same client over everything it can be over: an embedded Pinakes or a server on a socket, on any engine. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../../pinakes/src/http/app.ts";
import { RateLimiter } from "../../../pinakes/src/http/framework/index.ts";
import { serve } from "../../../pinakes/src/http/serve.ts";
import { open, type OpenOptions, type Pinakes } from "../../../pinakes/src/open.ts";
import { startLagProxy } from "../../../pinakes/src/drivers/dynamodb/lag-proxy.ts";
import { startDynamo } from "../../../pinakes/src/drivers/dynamodb/test-server.ts";
import { startPostgres } from "../../../pinakes/src/drivers/postgres/test-server.ts";
import { embeddedKnowledge } from "../../../pinakes/src/embedded-knowledge.ts";
import {
  connect,
  httpApi,
  pinakesClient,
  type HttpOptions,
  type PinakesClient,
  type StateApi,
} from "../../src/index.ts";

/** `dynamodb-late`: its indexes show a write a third of a second later, as the real ones may. */
export type Engine = "memory" | "sqlite" | "postgres" | "dynamodb" | "dynamodb-late";
export type Via = "embedded" | "http";

export interface World extends AsyncDisposable {
  readonly pinakes: Pinakes;
  readonly via: Via;
  /** The interface for a workspace; each call makes a new one. */
  api(workspace?: string, options?: Partial<HttpOptions>): Promise<StateApi>;
  /** The whole client for a workspace. */
  client(workspace?: string): Promise<PinakesClient>;
  /** Only of a server. */
  readonly url: string;
  key(workspace: string): Promise<string>;
}

const rootToken = "root-token-of-these-tests-0123456789";
/** No test shall meet a limit that it is not about. */
const wide = { perSecond: 1e6, burst: 1e6 };

export async function openWorld(engine: Engine, via: Via, more: OpenOptions = {}): Promise<World> {
  await using undo = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "pinakes-client-"));
  undo.defer(() => rm(dir, { recursive: true, force: true }));
  const pinakes = undo.use(await open({ dir, ...(await storesOf(engine, dir, undo)), rootToken, ...more }));
  let url = "";
  if (via === "http") {
    const closing = new AbortController();
    const limiter = new RateLimiter({ caller: wide, authFailures: wide });
    const server = await serve(await createApp(pinakes, { checkAnswers: true, limiter, closing: closing.signal }), {
      host: "127.0.0.1",
      port: 0,
    });
    undo.defer(() => server.close());
    undo.defer(() => closing.abort());
    ({ url } = server);
  }
  const key = async (workspace_id: string): Promise<string> => {
    const headers = { authorization: `Bearer ${rootToken}`, "content-type": "application/json" };
    const body = JSON.stringify({ workspace_id, user_id: "tester", role: "admin" });
    const made = await fetch(`${url}/v1/keys`, { method: "POST", headers, body });
    return ((await made.json()) as { key: string }).key;
  };
  const opened = undo.move();
  return {
    pinakes,
    via,
    url,
    key,
    api: async (workspace = "acme", options = {}) =>
      via === "http"
        ? httpApi({ url, apiKey: await key(workspace), ...options })
        : pinakes.state.as(pinakes.as({ tenant: workspace, userId: "tester", role: "admin" })),
    client: async (workspace = "acme") => {
      if (via === "http") return connect({ url, key: await key(workspace) });
      const caller = pinakes.as({ tenant: workspace, userId: "tester", role: "admin" });
      return pinakesClient(pinakes.state.as(caller), embeddedKnowledge(pinakes, caller));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function storesOf(engine: Engine, dir: string, undo: AsyncDisposableStack): Promise<OpenOptions> {
  switch (engine) {
    case "memory":
      return { items: "memory:", objects: "memory:" };
    case "sqlite":
      return {};
    case "postgres": {
      const server = await startPostgres();
      undo.defer(() => server.stop());
      return { items: server.url, objects: `file:${join(dir, "objects")}` };
    }
    case "dynamodb":
    case "dynamodb-late": {
      process.env["AWS_ACCESS_KEY_ID"] ??= "test";
      process.env["AWS_SECRET_ACCESS_KEY"] ??= "test";
      const server = engine === "dynamodb" ? await startDynamo() : await startLagProxy({ lagMs: 300 });
      undo.defer(() => server.stop());
      return { items: `dynamodb://local/client?endpoint=${server.endpoint}`, objects: `file:${join(dir, "objects")}` };
    }
  }
}
