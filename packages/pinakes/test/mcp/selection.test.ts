/** The catalog that a session has selected: of sessions at 2025-11-25, of handles at 2026-07-28. */
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import type { Json } from "../http/support/server.ts";
import {
  call,
  engines,
  metadataOf,
  revisions,
  succeed,
  useWorld,
  type Connection,
  McpWorld,
  type Revision,
} from "./support/mcp-world.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** One conversation: a session, or a handle that the client passes on. */
class Conversation {
  readonly connection: Connection;
  handle: string | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  get client(): Client {
    return this.connection.client;
  }

  async select(catalog_id: string): Promise<Json> {
    const args = { catalog_id, ...this.#handle() };
    const metadata = metadataOf(await succeed(this.client, "select_catalog", args));
    this.handle ??= metadata["selection_handle"] as string | undefined;
    return metadata;
  }

  /** The catalog that answers, or the code of the error. */
  async asked(): Promise<unknown> {
    const answer = await call(this.client, "query_catalog", { query: "what is it about?", ...this.#handle() });
    const { catalog_name, error_code } = metadataOf(answer.structured);
    return answer.isError ? error_code : catalog_name;
  }

  #handle(): object {
    return this.handle === undefined ? {} : { selection_handle: this.handle };
  }
}

describe.each(engines)("selections on %s", (engine) => {
  const world = useWorld(engine);
  let users = 0;

  /** A user with two catalogs. */
  async function person(): Promise<{ key: string; catalogs: readonly [string, string]; user: string }> {
    users += 1;
    const user = `user${users}`;
    const key = await world().key("w1", user);
    const catalog = async (name: string): Promise<string> => {
      const made = await world().ok(key, "POST", "/v1/repositories/me/collections", { name });
      const { collection_id } = made as { collection_id: string };
      await world().indexed(key, `me/${collection_id}`, "a.txt", `It is about ${name}.`);
      return collection_id;
    };
    return { key, user, catalogs: [await catalog("Otters"), await catalog("Herons")] };
  }
  const open = async (revision: Revision, key: string, on: McpWorld = world()): Promise<Conversation> =>
    new Conversation(await on.connect(revision, key));

  describe.each(revisions)("at %s", (revision) => {
    it("R-KB-31 a conversation begins without a catalog, and two conversations of a user do not affect each other", async () => {
      const { key, catalogs } = await person();
      const [one, two] = [await open(revision, key), await open(revision, key)];
      expect(await one.asked()).toBe("NO_CATALOG_SELECTED");
      expect(await one.select(catalogs[0])).toMatchObject({ active: true, catalog_name: "Otters" });
      expect(await one.asked()).toBe("Otters");
      expect(await two.asked()).toBe("NO_CATALOG_SELECTED");
      await two.select(catalogs[1]);
      expect([await one.asked(), await two.asked()]).toEqual(["Otters", "Herons"]);
      await one.select(catalogs[1]);
      expect([await one.asked(), await two.asked()]).toEqual(["Herons", "Herons"]);
      // A catalog that the question names goes before the selected one, and leaves it.
      const named = { query: "what is it about?", catalog_id: catalogs[0] };
      expect(metadataOf(await succeed(one.client, "query_catalog", named))).toMatchObject({ catalog_name: "Otters" });
      expect(await one.asked()).toBe("Herons");
    });

    it("R-KB-33 an unknown or foreign catalog cannot be selected and changes nothing", async () => {
      const { key, catalogs } = await person();
      const other = await person();
      const talk = await open(revision, key);
      await talk.select(catalogs[0]);
      const refused = async (catalog_id: string) =>
        (await call(talk.client, "select_catalog", { catalog_id })).text.replaceAll(catalog_id, "ID");
      expect(await refused(other.catalogs[0])).toBe(await refused("none-such"));
      expect(await refused("none-such")).toContain("There is no catalog");
      expect(await talk.asked()).toBe("Otters");
    });

    it('R-KB-33 "none" deselects, and deleting the selected catalog clears it', async () => {
      const { key, catalogs } = await person();
      const talk = await open(revision, key);
      await talk.select(catalogs[0]);
      expect(await talk.select("none")).toMatchObject({ active: false, catalog_id: null });
      expect(await talk.asked()).toBe("NO_CATALOG_SELECTED");
      await talk.select(catalogs[0]);
      await succeed(talk.client, "delete_catalog", { catalog_id: catalogs[0], confirm: true });
      expect(await talk.asked()).toBe("NO_CATALOG_SELECTED");
      await talk.select(catalogs[1]);
      // By another way than this conversation.
      await world().ok(key, "DELETE", `/v1/repositories/me/collections/${catalogs[1]}`);
      expect(await talk.asked()).toBe("NO_CATALOG_SELECTED");
      await world().ok(key, "POST", `/v1/repositories/me/collections/${catalogs[1]}:restore`);
      expect(await talk.asked()).toBe("NO_CATALOG_SELECTED");
    });

    it("R-KB-32 a selection lasts for the conversation and expires a day after its last use", async () => {
      await using own = await McpWorld.open();
      const key = await own.key("w1", "ann");
      const made = await own.ok(key, "POST", "/v1/repositories/me/collections", { name: "Otters" });
      const id = made["collection_id"] as string;
      await own.indexed(key, `me/${id}`, "a.txt", "It is about otters.");
      const talk = await open(revision, key, own);
      await talk.select(id);
      // Used every few hours, it lasts longer than a day.
      for (let hours = 0; hours < 30; hours += 10) {
        own.later(10 * hourMs);
        if (revision === "2025-11-25") break;
        expect(await talk.asked()).toBe("Otters");
      }
      own.later(dayMs + 2 * hourMs);
      if (revision === "2026-07-28") return expect(await talk.asked()).toBe("NO_CATALOG_SELECTED");
      // The session itself is over by then: a client initializes another, which has selected nothing.
      await expect(talk.asked()).rejects.toMatchObject({ message: expect.stringContaining("Session not found") });
      expect(await (await open(revision, key, own)).asked()).toBe("NO_CATALOG_SELECTED");
    });
  });

  it("R-KB-31 a handle is only its user's: with it another user has selected nothing, and changes nothing", async () => {
    const ann = await person();
    const bob = await person();
    const talk = await open("2026-07-28", ann.key);
    await talk.select(ann.catalogs[0]);
    const theirs = await open("2026-07-28", bob.key);
    theirs.handle = talk.handle;
    expect(await theirs.asked()).toBe("NO_CATALOG_SELECTED");
    await theirs.select(bob.catalogs[1]);
    expect([await talk.asked(), await theirs.asked()]).toEqual(["Otters", "Herons"]);
    await theirs.select("none");
    expect(await talk.asked()).toBe("Otters");
    // Nor is it the same user's of another workspace.
    const elsewhere = await open("2026-07-28", await world().key("w2", ann.user));
    elsewhere.handle = talk.handle;
    expect(await elsewhere.asked()).toBe("NO_CATALOG_SELECTED");
  });

  it("R-KB-31 a handle that was never given selects for itself; without one nothing is remembered", async () => {
    const { key, catalogs } = await person();
    const talk = await open("2026-07-28", key);
    talk.handle = "chosen-by-the-client";
    expect(await talk.select(catalogs[0])).not.toHaveProperty("selection_handle");
    expect(await talk.asked()).toBe("Otters");
    talk.handle = undefined;
    expect(await talk.asked()).toBe("NO_CATALOG_SELECTED");
    expect(await talk.select("none")).not.toHaveProperty("selection_handle");
  });

  it("R-KB-32 a session that was ended is gone with its selection; another user's session answers as one that never was", async () => {
    const ann = await person();
    const bob = await person();
    const talk = await open("2025-11-25", ann.key);
    await talk.select(ann.catalogs[0]);
    const { sessionId } = talk.connection.transport;
    const ask = async (key: string, session: string) => {
      const response = await fetch(`${world().url}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-session-id": session,
          "mcp-protocol-version": "2025-11-25",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
      return [response.status, (await response.text()).replaceAll(session, "ID")];
    };
    const never = await ask(bob.key, crypto.randomUUID());
    expect(never[0]).toBe(404);
    expect(await ask(bob.key, sessionId as string)).toEqual(never);
    // The session of a user counts for the same user only, not for one of that name elsewhere.
    expect(await ask(await world().key("w2", ann.user), sessionId as string)).toEqual(never);
    for (const odd of ["x".repeat(10_000), "../..", "a b", "%00"]) expect(await ask(ann.key, odd)).toEqual(never);
    expect((await ask(ann.key, sessionId as string))[0]).toBe(200);
    // Nobody but its user ends it.
    const end = (key: string) =>
      fetch(`${world().url}/mcp`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${key}`, "mcp-session-id": sessionId as string },
      });
    expect((await end(bob.key)).status).toBe(404);
    expect(await talk.asked()).toBe("Otters");
    await talk.connection.transport.terminateSession();
    expect(await ask(ann.key, sessionId as string)).toEqual(never);
    const handle = await open("2026-07-28", ann.key);
    handle.handle = sessionId;
    expect(await handle.asked()).toBe("NO_CATALOG_SELECTED");
  });
});
