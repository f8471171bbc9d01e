/** Events as they happen: whose they are, where they go on, and when they end. */
import { describe, expect, it } from "vitest";
import { Leaks } from "./support/leak-walk.ts";
import { group, marker } from "./support/leak-world.ts";
import { newSite, sendAndSettle, type Json, type TestServer } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const leaks = forAllTests(() => Leaks.open());

interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: Json;
}

/** An open stream: every byte that came, and its events one after the other. */
class Listener {
  text = "";
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #stop: AbortController;
  #read = 0;
  #pending: ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]> | undefined;

  private constructor(reader: ReadableStreamDefaultReader<Uint8Array>, stop: AbortController) {
    this.#reader = reader;
    this.#stop = stop;
  }

  static async open(
    server: TestServer,
    key: string | undefined,
    headers: Record<string, string> = {},
  ): Promise<Listener> {
    const stop = new AbortController();
    const response = await server.raw("GET", "/v1/events", { key, headers, signal: stop.signal });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const listener = new Listener((response.body as ReadableStream<Uint8Array>).getReader(), stop);
    await listener.#more();
    expect(listener.text).toMatch(/^retry: \d+\n\n$/);
    // Asked for once, so that the stream has its place in the feeds before anything happens.
    listener.#pending = listener.#reader.read();
    return listener;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await (this.#pending ?? this.#reader.read());
    this.#pending = undefined;
    if (value !== undefined) this.text += new TextDecoder().decode(value);
    return !done;
  }

  /** The next event for which `wanted` holds. */
  async next(wanted: (frame: Frame) => boolean = () => true): Promise<Frame> {
    for (;;) {
      const end = this.text.indexOf("\n\n", this.#read);
      if (end === -1) {
        if (!(await this.#more())) throw new Error(`the stream ended: ${this.text}`);
        continue;
      }
      const block = this.text.slice(this.#read, end);
      this.#read = end + 2;
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const data = field("data");
      if (data === undefined) continue;
      const frame = { id: field("id") ?? "", event: field("event") ?? "", data: JSON.parse(data) as Json };
      if (wanted(frame)) return frame;
    }
  }

  /** Reads on until the server ends it. */
  async ended(): Promise<void> {
    while (await this.#more()) continue;
  }

  close(): void {
    this.#stop.abort();
  }
}

const isIndexed = (name: string) => (frame: Frame) =>
  frame.event === "document.status" &&
  (frame.data["data"] as Json)["name"] === name &&
  (frame.data["data"] as Json)["status"] === "indexed";

describe("events", () => {
  it("R-LISA-72 who may not see a collection hears nothing of it, in the same workspace or another; who may, hears all", async () => {
    const { server, world } = leaks;
    const eve = await server.key("w2", "eve", { role: "admin" });
    const ben = await server.key("w1", "ben");
    const [theirs, bens] = [await newSite(server, eve), { key: ben }];
    const own = await server.call("POST", "/v1/repositories/me/collections", { key: ben, body: { name: "Mine" } });
    const listeners = {
      ann: await Listener.open(server, world.ann),
      ben: await Listener.open(server, bens.key),
      eve: await Listener.open(server, eve),
    };
    const secret = `spoken by ${marker}.txt`;
    for (const { rid, cid } of Object.values(world.targets)) {
      const at = `/v1/repositories/${rid}/collections/${cid}`;
      await sendAndSettle(
        { server, key: world.ann, repository: rid, collection: cid, at },
        secret,
        `plans of ${marker}`,
      );
      await listeners.ann.next(isIndexed(secret));
    }
    const at = `/v1/repositories/me/collections/${own.json["collection_id"] as string}`;
    await sendAndSettle(
      { server, key: ben, repository: "me", collection: own.json["collection_id"] as string, at },
      "bens.txt",
      "own words",
    );
    await sendAndSettle(theirs, "eves.txt", "own words");
    await listeners.ben.next(isIndexed("bens.txt"));
    await listeners.eve.next(isIndexed("eves.txt"));
    const headers = new Headers();
    leaks.expectNothing({ text: listeners.ben.text, headers }, "", "ben's events");
    leaks.expectNothing({ text: listeners.eve.text, headers }, "", "eve's events");
    for (const listener of Object.values(listeners)) listener.close();
  });

  it("a stream goes on after Last-Event-ID: what happened meanwhile is told, from the next event on", async () => {
    const { server } = leaks;
    const key = await server.key("w6", "zoe", { role: "admin" });
    const site = await newSite(server, key);
    const first = await Listener.open(server, key);
    await sendAndSettle(site, "one.txt", "one");
    const { id, data } = await first.next(isIndexed("one.txt"));
    expect(data).toMatchObject({
      type: "document.status",
      workspace_id: "w6",
      resource: { collection_id: site.collection },
      at: expect.any(String) as string,
    });
    first.close();
    await sendAndSettle(site, "two.txt", "two");
    await server.call("POST", `${site.at}:archive`, { key });
    const again = await Listener.open(server, key, { "last-event-id": id });
    await again.next(isIndexed("two.txt"));
    await again.next(
      (frame) => frame.event === "collection.status" && (frame.data["data"] as Json)["status"] === "ARCHIVED",
    );
    again.close();
  });

  it("an event id of another workspace, or of nobody, opens nothing", async () => {
    const { server, world } = leaks;
    const ann = await Listener.open(server, world.ann);
    const { rid, cid } = world.targets.groupRepository;
    const at = `/v1/repositories/${rid}/collections/${cid}`;
    await sendAndSettle({ server, key: world.ann, repository: rid, collection: cid, at }, `x ${marker}.txt`, "x");
    const { id } = await ann.next(isIndexed(`x ${marker}.txt`));
    ann.close();
    const eve = await server.key("w7", "eve", { role: "admin" });
    for (const lastEventId of [id, "bm90IG9uZSBvZiBvdXJz", "%%%"]) {
      const listener = await Listener.open(server, eve, { "last-event-id": lastEventId });
      const told = await listener.next();
      expect(told, lastEventId).toMatchObject({ event: "problem", data: { code: "INVALID", status: 400 } });
      leaks.expectNothing({ text: listener.text, headers: new Headers() }, id, "events after a foreign id");
      listener.close();
    }
  });

  it("a stream ends when its key is revoked, and tells nothing that happens after", async () => {
    const { server, world } = leaks;
    const key = await server.key("w1", "leaver", { groups: [group] });
    const listener = await Listener.open(server, key);
    const { rid, cid } = world.targets.groupRepository;
    const site = {
      server,
      key: world.ann,
      repository: rid,
      collection: cid,
      at: `/v1/repositories/${rid}/collections/${cid}`,
    };
    await sendAndSettle(site, "before.txt", "before");
    await listener.next(isIndexed("before.txt"));
    await server.call("DELETE", `/v1/keys/${key.split("_")[1] as string}`, { key: world.boss });
    await sendAndSettle(site, "after.txt", "after");
    await listener.ended();
    expect(listener.text).not.toContain("after.txt");
  });

  it("a browser's session opens a stream with its cookie, and signing out ends it", async () => {
    const { server, world } = leaks;
    const signedIn = await server.raw("POST", "/v1/sessions", { body: { token: world.ann } });
    const cookie = (signedIn.headers.get("set-cookie") as string).split(";")[0] as string;
    const csrf = ((await signedIn.json()) as Json)["csrf_token"] as string;
    const listener = await Listener.open(server, undefined, { cookie });
    const { rid, cid } = world.targets.groupCollection;
    const site = {
      server,
      key: world.ann,
      repository: rid,
      collection: cid,
      at: `/v1/repositories/${rid}/collections/${cid}`,
    };
    await sendAndSettle(site, "signed in.txt", "before");
    await listener.next(isIndexed("signed in.txt"));
    expect((await server.call("DELETE", "/v1/sessions", { headers: { cookie, "x-csrf-token": csrf } })).status).toBe(
      204,
    );
    await sendAndSettle(site, "signed out.txt", "after");
    await listener.ended();
    expect(listener.text).not.toContain("signed out.txt");
    expect(listener.text).toContain('"code":"UNAUTHENTICATED"');
  });
});
