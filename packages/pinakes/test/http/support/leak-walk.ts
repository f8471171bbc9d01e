/** Calls every operation of the OpenAPI document and looks at each answer for bytes that it must not have. */
import { expect } from "vitest";
import { writes } from "../../answers/support/model-server.ts";
import { startChatServer } from "../../graph-retrieval/support/chat-server.ts";
import { howToCall, type HowToCall, type Target } from "./leak-calls.ts";
import { stateTags } from "./leak-calls-state.ts";
import { buildLeakWorld, commons, marker, stateOf, type LeakWorld } from "./leak-world.ts";
import { openTestServer, readReply, requestInit, type Json, type Reply, type TestServer } from "./server.ts";

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
}
export interface Call extends Operation {
  readonly how: HowToCall;
}

export interface Who {
  readonly key: string;
  /** The same role in a workspace where no secret ever was. */
  readonly stranger: string;
  readonly admin?: boolean;
}

/** Whoever has a link may use it; what is tried is one that was never given. */
const neverGiven = "A".repeat(43);

/** The sources of a prompt are lines of JSON. */
function textsIn(content: unknown): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return text
    .split("\n")
    .map((line) => (line.startsWith("{") ? ((JSON.parse(line) as { text?: string }).text ?? line) : line))
    .join("\n");
}

export class Leaks implements AsyncDisposable {
  readonly server: TestServer;
  readonly world: LeakWorld;
  readonly operations: readonly Operation[];
  readonly calls: readonly Call[];
  readonly #opened: AsyncDisposableStack;

  private constructor(
    server: TestServer,
    world: LeakWorld,
    operations: readonly Operation[],
    opened: AsyncDisposableStack,
  ) {
    this.#opened = opened;
    this.server = server;
    this.world = world;
    this.operations = operations;
    this.calls = operations.flatMap((operation) =>
      (howToCall[operation.id] ?? []).map((how) => ({ ...operation, how })),
    );
  }

  static async open(): Promise<Leaks> {
    await using undo = new AsyncDisposableStack();
    // A model that writes all that it is sent: what a prompt holds without permission shows.
    const model = undo.use(await startChatServer());
    model.behave = ({ body }) => writes(body.messages.map(({ content }) => `${textsIn(content)}\n`));
    const chatModels = [{ id: "mirror", provider: "ollama", model: "mirror", baseUrl: model.url }];
    const server = undo.use(await openTestServer("memory", { chatModels }));
    const world = await buildLeakWorld(server);
    // What a user of the same workspace may see is in the workspace without secrets, too.
    const boss = await server.key("w3", "boss", { role: "admin" });
    await server.call("POST", "/v1/repositories", { key: boss, body: { repository_id: commons, name: "Commons" } });
    // Agents' state has other rules, and a walk of its own.
    const operations = (await operationsOf(server)).filter(({ tag }) => !stateTags.has(tag));
    return new Leaks(server, world, operations, undo.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }

  /** One user of the world's workspace or of another, and the same in the workspace without secrets. */
  async who(
    workspace: string,
    user: string,
    wishes: { groups?: readonly string[]; role?: "admin" } = {},
  ): Promise<Who> {
    const [key, stranger] = [
      await this.server.key(workspace, user, wishes),
      await this.server.key(workspace === "w1" ? "w3" : "w5", user, wishes),
    ];
    return { key, stranger, admin: wishes.role === "admin" };
  }

  /** With a request id of its own, so that two answers can be compared byte for byte. */
  async send(
    { method, path, how }: Call,
    target: Target,
    key: string | undefined,
    token = neverGiven,
  ): Promise<{ reply: Reply; sent: string }> {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === "token" ? token : target[name as keyof Target],
    );
    const query = how.query?.(target);
    const url = query === undefined ? filled : `${filled}?${query}`;
    const body = how.kind === "signin" ? { token: key ?? "nothing" } : how.body?.(target);
    const headers = {
      "x-request-id": "leak-1",
      ...(body instanceof Uint8Array ? { "content-type": "application/octet-stream" } : {}),
      ...typeOf(how),
      ...how.headers?.(target),
    };
    const stop = new AbortController();
    const init = requestInit(method, {
      key: how.kind === "signin" ? undefined : key,
      body,
      headers,
      signal: stop.signal,
    });
    const response = await this.server.app.request(url, init);
    const sent = `${url} ${JSON.stringify(body) ?? ""} ${key ?? ""} ${JSON.stringify(how.headers?.(target) ?? {})}`;
    if (how.kind !== "stream" || response.status !== 200) return { reply: await readReply(response), sent };
    const first = await response.body?.getReader().read();
    stop.abort();
    return {
      reply: {
        status: 200,
        headers: response.headers,
        text: new TextDecoder().decode(first?.value as Uint8Array),
        json: {},
      },
      sent,
    };
  }

  /** Nothing of the world but what the caller sent. */
  expectNothing({ text, headers }: Pick<Reply, "text" | "headers">, sent: string, what: string): void {
    const answer = `${text}\n${[...headers].map(([name, value]) => `${name}: ${value}`).join("\n")}`;
    const leaked = [marker, ...this.world.ids].filter((id) => answer.includes(id) && !sent.includes(id));
    expect(leaked, `${what} tells of another's world: ${answer}`).toEqual([]);
  }

  /** Who sees nothing of the target calls all that is wanted; each answer is what it would be if the target had never been. */
  async walk(target: Target, who: Who, wanted: (call: Call) => boolean = () => true): Promise<number> {
    const chosen = this.calls.filter((call) => wanted(call) && (call.how.kind !== "admin" || who.admin !== true));
    for (const call of chosen) {
      const what = `${call.method} ${call.path} (${call.id})`;
      const { reply, sent } = await this.send(call, target, who.key);
      this.expectNothing(reply, sent, what);
      const { kind } = call.how;
      if (kind === "odd") expect([400, 404], `${what}: ${reply.text}`).toContain(reply.status);
      else expect(reply.status, `${what}: ${reply.text}`).toBe(expectedStatus(call, who));
      if (kind === "list") {
        const { items, hits, data, collections } = reply.json;
        const listed = Array.isArray(reply.json) ? reply.json : ((items ?? hits ?? data ?? collections) as Json[]);
        expect(listed.length, what).toBe(0);
        expect(reply.json["next_cursor"] ?? null, what).toBeNull();
      }
      if (kind === "thing" || kind === "same" || kind === "odd" || kind === "public")
        expectBytesOf(reply, (await this.send(call, target, who.stranger)).reply, what);
      if (kind === "thing" && call.method === "GET")
        expect((await this.send({ ...call, method: "HEAD" }, target, who.key)).reply.status, what).toBe(
          expectedStatus(call, who),
        );
    }
    return chosen.length;
  }

  async unchanged(run: () => Promise<void>): Promise<void> {
    const before = await stateOf(this.server, this.world);
    await run();
    expect(await stateOf(this.server, this.world)).toBe(before);
  }
}

/** Every operation of the OpenAPI document. */
export async function operationsOf(server: TestServer): Promise<readonly Operation[]> {
  interface Declared {
    readonly operationId: string;
    readonly tags: readonly [string];
  }
  const { paths } = (await server.call("GET", "/v1/openapi.json")).json as {
    paths: Record<string, Record<string, Declared>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, tags }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      tag: tags[0],
    })),
  );
}

function typeOf({ contentType }: HowToCall): Readonly<Record<string, string>> {
  return contentType === undefined ? {} : { "content-type": contentType };
}

function expectedStatus({ id, how }: Call, { admin }: Who): number {
  if (how.kind === "admin") return 403;
  if (how.kind === "signin") return 201;
  if (how.kind === "thing" || how.kind === "public") return how.adminsOnly === true && admin !== true ? 403 : 404;
  return id === "endSession" ? 204 : 200;
}

export function expectBytesOf({ text, headers }: Reply, never: Reply, what: string): void {
  // The facade's answers say when they were given.
  const timeless = (body: string) => body.replace(/"timestamp":"[^"]*"/, '"timestamp":""');
  expect(timeless(text), what).toBe(timeless(never.text));
  const shown = (from: Headers) => [...from].filter(([name]) => !name.startsWith("ratelimit"));
  expect(shown(headers), what).toEqual(shown(never.headers));
}
