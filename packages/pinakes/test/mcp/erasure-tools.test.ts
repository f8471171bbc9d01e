/** Erasures over MCP: counted for who cannot ask, asked of the client's user, waited for, and proved by a receipt. */
import { describe, expect, it } from "vitest";
import { receiptUri } from "../../src/mcp/uris.ts";
import type { Json } from "../http/support/server.ts";
import { call, engines, revisions, succeed, useWorld, type Elicited } from "./support/mcp-world.ts";

describe.each(engines)("erasures on %s", (engine) => {
  let boss: string;
  let users = 0;
  const world = useWorld(engine, async (opened) => {
    boss = await opened.key("w1", "boss", { role: "admin" });
  });

  /** What a new user said. */
  async function person(): Promise<{ readonly user: string; readonly said: () => Promise<readonly string[]> }> {
    users += 1;
    const user = `erin-${users}`;
    await world().ok(boss, "POST", "/v1/agents/helper/memories", {
      session_id: `session-${users}`,
      message_type: "user",
      content: `hello of ${user}`,
      metadata: { user_id: user },
    });
    const said = async () => {
      const { items } = await world().ok(boss, "GET", "/v1/agents/helper/memories?limit=1000");
      return (items as Json[]).map(({ content }) => content as string).filter((text) => text.endsWith(user));
    };
    return { user, said };
  }
  const named = (id: string) => ({ subject: { type: "user", id } });
  const found = (erasure: Json): number =>
    (erasure["stores"] as { found: number }[]).reduce((sum, store) => sum + store.found, 0);

  describe.each(revisions)("at %s", (revision) => {
    it("erasure_request is a dry run for a client that cannot ask its user, whatever arguments a model adds", async () => {
      const { user, said } = await person();
      const client = await world().client(revision, boss);
      const { structured, isError, text } = await call(client, "erasure_request", named(user));
      expect(isError).toBe(false);
      expect(text).toContain("Nothing was erased");
      expect(structured).toMatchObject({ state: "counted", dry_run: true });
      expect(found(structured)).toBeGreaterThan(0);
      expect(structured).toEqual(await world().ok(boss, "GET", `/v1/erasures/${String(structured["erasure_id"])}`));
      const forced = await call(client, "erasure_request", { ...named(user), confirm: true });
      expect([forced.isError, forced.text]).toEqual([true, expect.stringContaining("confirm") as string]);
      expect(await said()).toHaveLength(1);
    });

    it("erasure_request asks the client's user with the counts, erases when the user accepts, and erasure_status waits for the receipt", async () => {
      const { user, said } = await person();
      const other = await person();
      const asked: string[] = [];
      const client = await world().client(revision, boss, {
        elicit: (message) => {
          asked.push(message);
          return { action: "accept", content: { confirm: true } };
        },
      });
      const begun = await succeed(client, "erasure_request", named(user));
      expect(begun).toMatchObject({ dry_run: false });
      expect(asked).toEqual([
        expect.stringMatching(
          new RegExp(
            `^Erase everything that names the user "${user}" permanently\\? \\d+ row\\(s\\) in \\d+ store\\(s\\)`,
          ),
        ),
      ]);
      const erasure_id = begun["erasure_id"] as string;
      const seen: string[] = [];
      const { structuredContent, content } = await client.callTool(
        { name: "erasure_status", arguments: { erasure_id, timeout_seconds: 600 } },
        { onprogress: ({ message }) => void seen.push(message ?? ""), timeout: 600_000 },
      );
      expect(structuredContent).toMatchObject({ erasure_id, state: "done_live", error: null });
      expect(structuredContent).toEqual(await world().ok(boss, "GET", `/v1/erasures/${erasure_id}`));
      expect(seen.at(-1)).toBe("erasure: done_live");
      expect([await said(), (await other.said()).length]).toEqual([[], 1]);
      const uri = receiptUri(erasure_id);
      expect(content).toContainEqual(expect.objectContaining({ type: "resource_link", uri }));
      const { contents } = await client.readResource({ uri });
      const receipt = JSON.parse((contents[0] as { text: string }).text) as Json;
      expect(receipt).toEqual(await world().ok(boss, "GET", `/v1/erasures/${erasure_id}/receipt`));
      expect(receipt).toMatchObject({ erasure_id, jws: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) as string });
      const { completion } = await client.complete({
        ref: { type: "ref/resource", uri: "state://receipts/{erasure}" },
        argument: { name: "erasure", value: erasure_id.slice(0, -1) },
      });
      expect(completion.values).toEqual([erasure_id]);
    });

    const refusals: readonly (readonly [string, Elicited])[] = [
      ["declines", { action: "decline" }],
      ["cancels", { action: "cancel" }],
      ["accepts without the confirmation", { action: "accept", content: { confirm: false } }],
    ];
    it.each(refusals)("erasure_request erases nothing when the user %s", async (_, answer) => {
      const { user, said } = await person();
      const client = await world().client(revision, boss, { elicit: () => answer });
      expect(await succeed(client, "erasure_request", named(user))).toMatchObject({ state: "counted", dry_run: true });
      expect(await said()).toHaveLength(1);
    });

    it("a user who is no admin can neither ask for an erasure nor read one; unknown subjects and ids are refused", async () => {
      const { user, said } = await person();
      const counted = await succeed(await world().client(revision, boss), "erasure_request", named(user));
      const { erasure_id } = counted as { erasure_id: string };
      const asked: string[] = [];
      const client = await world().client(revision, await world().key("w1", user), {
        elicit: (message) => {
          asked.push(message);
          return { action: "accept", content: { confirm: true } };
        },
      });
      expect((await call(client, "erasure_request", named(user))).text).toMatch(/^FORBIDDEN: /);
      expect((await call(client, "erasure_status", { erasure_id })).text).toMatch(/^FORBIDDEN: /);
      await expect(client.readResource({ uri: receiptUri(erasure_id) })).rejects.toMatchObject({ code: -32_602 });
      const admin = await world().client(revision, boss);
      expect((await call(admin, "erasure_request", named("nobody-at-all"))).text).toMatch(/^NOT_FOUND: /);
      expect((await call(admin, "erasure_request", named("*"))).text).toMatch(/^INVALID: /);
      expect((await call(admin, "erasure_status", { erasure_id: "none-such" })).text).toMatch(/^NOT_FOUND: /);
      // A dry run has no receipt.
      await expect(admin.readResource({ uri: receiptUri(erasure_id) })).rejects.toMatchObject({ code: -32_602 });
      expect(asked).toEqual([]);
      expect(await said()).toHaveLength(1);
    });
  });
});
