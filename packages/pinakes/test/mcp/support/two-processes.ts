/** Two server processes on the same stores, and a proxy in front of them that sends each request to the other one than the request before. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { buffer } from "node:stream/consumers";
import { join } from "node:path";
import { startPostgres } from "../../../src/drivers/postgres/test-server.ts";
import { rootToken } from "../../http/support/server.ts";
import { spawnServer } from "../../support/spawned-server.ts";
import { McpWorld } from "./mcp-world.ts";

export interface Passed {
  readonly method: string;
  /** The method of the JSON-RPC message; undefined for an answer and without one. */
  readonly rpc: string | undefined;
  readonly to: 0 | 1;
}

export class TwoProcesses implements AsyncDisposable {
  /** Calls go through the proxy. */
  readonly world: McpWorld;
  readonly urls: readonly [string, string];
  readonly passed: Passed[] = [];
  /** Which of them gets a request; in turns when absent. */
  route: ((passed: Omit<Passed, "to">) => 0 | 1 | undefined) | undefined;
  readonly #undo: AsyncDisposableStack;

  private constructor(
    urls: readonly [string, string],
    undo: AsyncDisposableStack,
    world: (proxied: TwoProcesses) => McpWorld,
  ) {
    this.urls = urls;
    this.#undo = undo;
    this.world = world(this);
  }

  static async open(): Promise<TwoProcesses> {
    await using undo = new AsyncDisposableStack();
    const postgres = await startPostgres();
    undo.defer(() => postgres.stop());
    const dir = await mkdtemp(join(tmpdir(), "pinakes-mcp-two-"));
    undo.defer(() => rm(dir, { recursive: true, force: true }));
    const start = async (name: string) =>
      undo.use(
        await spawnServer({
          PINAKES_DATA: join(dir, name),
          PINAKES_ITEMS: postgres.url,
          PINAKES_OBJECTS: `file:${join(dir, "objects")}`,
          PINAKES_ROOT_TOKEN: rootToken,
        }),
      );
    const [one, two] = [await start("one"), await start("two")];
    const proxy = createServer();
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    undo.defer(async () => {
      proxy.closeAllConnections();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
    });
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const worldUndo = new AsyncDisposableStack();
    undo.defer(() => worldUndo.disposeAsync());
    const made = new TwoProcesses([one.url, two.url], undo.move(), () => new McpWorld(undefined, url, worldUndo));
    proxy.on("request", (incoming, outgoing) => {
      void (async () => {
        const body = await buffer(incoming);
        const { method = "GET", headers, url: path } = incoming;
        const to = made.#next(method, body);
        const { hostname, port } = new URL(made.urls[to]);
        const forwarded = request({ hostname, port, path, method, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        });
        forwarded.on("error", () => outgoing.destroy());
        outgoing.on("close", () => forwarded.destroy());
        forwarded.end(body);
      })();
    });
    return made;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#undo.disposeAsync();
  }

  #next(method: string, body: Buffer): 0 | 1 {
    let rpc: string | undefined;
    try {
      ({ method: rpc } = JSON.parse(body.toString()) as { method?: string });
    } catch {
      // Not every request has a JSON body.
    }
    const turn = this.passed.at(-1)?.to === 0 ? 1 : 0;
    const to = this.route?.({ method, rpc }) ?? turn;
    this.passed.push({ method, rpc, to });
    return to;
  }
}
