/** Calls every operation about agents' state as somebody of another workspace, and compares each answer with that about what never was. */
import { expect } from "vitest";
import { howToCallState, stateTags, type StateCall, type StateTarget } from "./leak-calls-state.ts";
import { operationsOf, type Operation } from "./leak-walk.ts";
import { buildStateWorld, stateDump, type StateWorld } from "./leak-world-state.ts";
import { openTestServer, readReply, requestInit, type Json, type Reply, type TestServer } from "./server.ts";

export interface Call extends Operation {
  readonly how: StateCall;
}

export interface Sent {
  readonly reply: Reply;
  /** What the caller said, and so may hear again. */
  readonly sent: string;
}

export class StateLeaks implements AsyncDisposable {
  readonly server: TestServer;
  readonly world: StateWorld;
  readonly operations: readonly Operation[];
  readonly calls: readonly Call[];
  #fresh = 0;

  private constructor(server: TestServer, world: StateWorld, operations: readonly Operation[]) {
    this.server = server;
    this.world = world;
    this.operations = operations;
    this.calls = operations.flatMap((operation) =>
      (howToCallState[operation.id] ?? []).map((how) => ({ ...operation, how })),
    );
  }

  static async open(): Promise<StateLeaks> {
    // Nothing in the background: what changes, a call has changed.
    const server = await openTestServer("sqlite", { background: false });
    const operations = (await operationsOf(server)).filter(({ tag }) => stateTags.has(tag));
    return new StateLeaks(server, await buildStateWorld(server), operations);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }

  async send({ method, path, how }: Call, target: StateTarget, key: string | undefined): Promise<Sent> {
    const params: Readonly<Record<string, unknown>> = { ...target, ...how.params?.(target) };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] as string));
    const query = how.query?.(target);
    const url = query === undefined ? filled : `${filled}?${query}`;
    const body = how.body?.(target);
    const headers = { "x-request-id": "leak-1", ...how.headers?.(target) };
    const stop = new AbortController();
    const response = await this.server.app.request(
      url,
      requestInit(method, { key, body, headers, signal: stop.signal }),
    );
    const sent = `${decodeURIComponent(url)} ${JSON.stringify(body) ?? ""} ${JSON.stringify(headers)}`;
    if (how.streams !== true || response.status !== 200) return { reply: await readReply(response), sent };
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

  /** No text of the world, and no name or version but what the caller sent. With `sameNames` the caller's own things are called so, too. */
  expectNothing(
    { text, headers }: Pick<Reply, "text" | "headers">,
    sent: string,
    what: string,
    options: { sameNames?: true } = {},
  ): void {
    const answer = `${text}\n${[...headers].map(([name, value]) => `${name}: ${value}`).join("\n")}`;
    const { secret, marker, ids } = this.world;
    const secrets = [marker, ...ids].filter(
      (id) => !sent.includes(id) && !(options.sameNames === true && id.includes(marker)),
    );
    const leaked = [secret, ...secrets].filter((id) => answer.includes(id));
    expect(leaked, `${what} tells of another's world: ${answer}`).toEqual([]);
  }

  /** Calls all that is wanted; each answer is what it would be if nothing had ever been called so. */
  async walk(key: string, admin: boolean, wanted: (call: Call) => boolean = () => true): Promise<number> {
    const { target, never } = this.world;
    const chosen = this.calls.filter((call) => call.how.kind !== "makes" && wanted(call));
    for (const call of chosen) {
      const what = describeCall(call);
      const { reply, sent } = await this.send(call, target, key);
      this.expectNothing(reply, sent, what);
      const expected = expectedStatus(call.how, admin);
      expect(reply.status, `${what}: ${reply.text}`).toBe(expected);
      if (expected === 200 && call.how.kind === "empty") expectEmpty(reply, what);
      if (call.how.kind === "foreign" && expected === 200) expect(reply.text, what).toContain('"FORBIDDEN"');
      this.expectSame(reply, (await this.send(call, never, key)).reply, what);
      if (call.how.kind === "thing" && call.method === "GET")
        expect((await this.send({ ...call, method: "HEAD" }, target, key)).reply.status, what).toBe(404);
    }
    return chosen.length;
  }

  /** Makes things under the same names, each in a workspace of its own, where there is nothing: it is as if the names had been free. */
  async walkMaking(role: "admin" | "user"): Promise<number> {
    const { target, never } = this.world;
    const chosen = this.calls.filter(({ how }) => how.kind === "makes");
    for (const call of chosen) {
      const what = describeCall(call);
      this.#fresh += 1;
      const key = await this.server.key(`fresh-${this.#fresh}`, "mallory", { role });
      const { reply, sent } = await this.send(call, target, key);
      this.expectNothing(reply, sent, what);
      expect(call.how.adminsOnly === true && role !== "admin" ? [403] : [200, 201], `${what}: ${reply.text}`).toContain(
        reply.status,
      );
      // Every line and span was taken: none was known, none refused.
      if (/^(ingest|export)/.test(call.id))
        expect(reply.text, what).not.toMatch(/partialSuccess|"(failed|duplicates)":[1-9]/);
      const other = (await this.send(call, never, key)).reply;
      expect([other.status, shapeOf(other.json)], what).toEqual([reply.status, shapeOf(reply.json)]);
    }
    return chosen.length;
  }

  expectSame(reply: Reply, never: Reply, what: string): void {
    const { marker, neverMarker } = this.world;
    const plain = (text: string) =>
      text.replaceAll(marker, neverMarker).replaceAll(/"cursor":"[^"]+"/g, '"cursor":"…"');
    expect(plain(reply.text), what).toBe(plain(never.text));
    const shown = ({ headers }: Reply) =>
      [...headers]
        .filter(([name]) => !name.startsWith("ratelimit") && name !== "etag")
        .map(([name, value]) => `${name}: ${plain(value)}`);
    expect(shown(reply), what).toEqual(shown(never));
  }

  async unchanged(run: () => Promise<void>): Promise<void> {
    const before = await stateDump(this.server, this.world);
    expect(before.length).toBeGreaterThan(50);
    await run();
    expect(await stateDump(this.server, this.world)).toEqual(before);
  }
}

export function describeCall({ method, path, id, how }: Call): string {
  return `${method} ${path} (${id}, ${how.kind})`;
}

function expectedStatus({ kind, status, adminsOnly }: StateCall, admin: boolean): number {
  if (adminsOnly === true && !admin) return 403;
  if (status !== undefined) return status;
  return { thing: 404, empty: 200, refused: 400, foreign: 403, makes: 200 }[kind];
}

/** Lists without items, figures that are 0, or a file with nothing but its head. */
function expectEmpty(reply: Reply, what: string): void {
  const told = (reply.json["items"] ?? reply.json["hits"] ?? reply.json["messages"]) as
    | (Json | null | number)[]
    | undefined;
  // The containers of the system are everybody's; COUNT has a row that says 0.
  const rows = (told ?? []).filter(
    (row) => row !== null && row !== 0 && !(typeof row === "object" && row["kind"] === "system"),
  );
  expect(rows, `${what}: ${reply.text}`).toEqual([]);
  expect(reply.json["next_cursor"] ?? null, what).toBeNull();
  for (const figure of ["total", "deleted", "omitted", "token_count", "rows_aggregated", "entries"])
    expect(reply.json[figure] ?? 0, `${what}: ${figure}`).toBe(0);
  expect(reply.json["hash_chain"] ?? false, what).toBe(false);
  if (!/\bjson\b/.test(reply.headers.get("content-type") ?? ""))
    expect(reply.text.trim().split("\n").length, reply.text).toBe(1);
}

/** Which properties there are, and what is neither a text nor a moment. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, name === "_ts" ? 0 : shapeOf(inner)]),
    );
  return typeof value === "string" ? "text" : value;
}
