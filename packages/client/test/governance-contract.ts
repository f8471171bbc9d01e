/** Governance through the client, whatever is behind it: an embedded Pinakes or a server. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyReceipts } from "../../pinakes/src/governance/index.ts";
import { NotFoundError, type PinakesClient } from "../src/index.ts";
import { fresh } from "./support/context.ts";
import { openWorld, type Engine, type Via, type World } from "./support/worlds.ts";

interface Context {
  readonly world: () => World;
  readonly client: () => PinakesClient;
}

export function governanceContractTests(engine: Engine, via: Via): void {
  describe(`governance through the client on ${engine}, ${via}`, () => {
    let world: World;
    let client: PinakesClient;
    beforeAll(async () => {
      // One process: nobody else has to see a fence. Small archives, so that an export has several.
      world = await openWorld(engine, via, { erasureFenceMs: 0, subjectExportPartBytes: 600 });
      client = await world.client();
    });
    afterAll(async () => world[Symbol.asyncDispose]());
    const context: Context = { world: () => world, client: () => client };
    erasing(context);
    receipts(context);
    holds(context);
    subjectExports(context);
    tenants(context);
  });
}

async function remember(client: PinakesClient, user: string, content: string): Promise<void> {
  await client.memories.append({
    agent_id: "helper",
    session_id: `session-${user}`,
    message_type: "user",
    content,
    metadata: { user_id: user },
  });
}

async function said(client: PinakesClient): Promise<readonly string[]> {
  return (await client.memories.list({ agent_id: "helper" }).all()).map(({ content }) => content);
}

const ofUser = (id: string) => ({ type: "user", id }) as const;

async function erase(client: PinakesClient, user: string) {
  const { erasure_id } = await client.erasures.request({ subject: ofUser(user) });
  return client.erasures.wait(erasure_id);
}

function erasing({ client }: Context): void {
  it("R-AGT-65 R-AGT-67 an erasure is counted, asked for, waited for, listed and verified", async () => {
    const [erin, otto] = [fresh("erin"), fresh("otto")];
    await remember(client(), erin, `of ${erin}`);
    await remember(client(), otto, `of ${otto}`);
    const counted = await client().erasures.request({ subject: ofUser(erin), dry_run: true });
    expect(counted).toMatchObject({ state: "counted", dry_run: true, receipt_id: null });
    expect(counted.stores.find(({ store }) => store === "agent-memories")?.found).toBe(1);
    expect(await said(client())).toContain(`of ${erin}`);

    const begun = await client().erasures.request({ subject: ofUser(erin) });
    expect(begun).toMatchObject({ state: "received", subject: { type: "user" } });
    const states: string[] = [];
    const done = await client().erasures.wait(begun.erasure_id, { onProgress: ({ state }) => states.push(state) });
    expect(done).toMatchObject({ erasure_id: begun.erasure_id, state: "done_live", error: null });
    expect(states).not.toContain("done_live");
    expect(await client().erasures.get(begun.erasure_id)).toEqual(done);
    const listed = (await client().erasures.list({ limit: 1 }).all()).map(({ erasure_id }) => erasure_id);
    expect(listed).toEqual(expect.arrayContaining([counted.erasure_id, begun.erasure_id]));
    expect(await said(client())).toContain(`of ${otto}`);
    expect(await said(client())).not.toContain(`of ${erin}`);

    const verified = await client().erasures.verify(begun.erasure_id, { subject: ofUser(erin) });
    expect(verified).toMatchObject({ remaining: 0, receipt: { valid: true, reason: null } });
    await remember(client(), erin, `again of ${erin}`);
    const again = await client().erasures.verify(begun.erasure_id, { subject: ofUser(erin) });
    // Over HTTP also the stored answer of an idempotent call.
    expect(again.stores.find(({ store }) => store === "agent-memories")).toMatchObject({ remaining: 1 });
    expect(again.remaining).toBeGreaterThanOrEqual(1);
    const other = client().erasures.verify(begun.erasure_id, { subject: ofUser(otto) });
    await expect(other).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("subject:") });
  });

  it("R-AGT-67 empty ids, wildcards and subjects that nothing names are refused", async () => {
    for (const id of ["", "*", "%"])
      await expect(client().erasures.request({ subject: ofUser(id) })).rejects.toMatchObject({ code: "INVALID" });
    const unknown = client().erasures.request({ subject: ofUser("nobody-at-all") });
    await expect(unknown).rejects.toSatisfy(NotFoundError.isInstance);
    await expect(client().erasures.wait("nothing")).rejects.toSatisfy(NotFoundError.isInstance);
    await remember(client(), "waits", "waits");
    const { erasure_id } = await client().erasures.request({ subject: ofUser("waits") });
    const stopped = client().erasures.wait(erasure_id, { signal: AbortSignal.abort(new Error("enough")) });
    await expect(stopped).rejects.toThrow("enough");
    await client().erasures.wait(erasure_id);
  });
}

function receipts({ client }: Context): void {
  it("R-AGT-68 receipts are read, listed and exported as a chain that the public key verifies", async () => {
    const ended = [];
    for (const user of [fresh("gone"), fresh("gone")]) {
      await remember(client(), user, "hello");
      ended.push(await erase(client(), user));
    }
    const key = await client().receipts.key();
    const last = await client().receipts.get(ended.at(-1)?.erasure_id as string);
    expect(last).toMatchObject({ receipt_id: ended.at(-1)?.receipt_id, public_key: key.public_key });
    expect(last.content).toMatchObject({ state: "done_live", verified: { remaining: 0 } });
    const chain = await client().receipts.list({ limit: 1 }).all();
    expect(chain.map(({ sequence }) => sequence)).toEqual(chain.map((_, i) => i + 1));
    const lines = (await client().receipts.export()).trimEnd().split("\n");
    expect(lines).toEqual(chain.map(({ jws }) => jws));
    expect(JSON.parse(Buffer.from(lines[0]?.split(".")[0] as string, "base64url").toString())).toMatchObject({
      kid: key.key_id,
    });
    expect(verifyReceipts(lines, key.public_key)).toMatchObject({ valid: true, receipts: lines.length });
    const missing = client().receipts.get("nothing");
    await expect(missing).rejects.toSatisfy(NotFoundError.isInstance);
  });
}

function holds({ client }: Context): void {
  it("R-AGT-69 a hold keeps what it matches from an erasure until its release, which starts the erasure again", async () => {
    const user = fresh("held");
    await remember(client(), user, `of ${user}`);
    const hold = await client().holds.create({ scope: ofUser(user), reason: "case 7" });
    expect(hold).toMatchObject({ scope: ofUser(user), reason: "case 7", matched: 1, workspace_id: "acme" });
    expect(await client().holds.get(hold.hold_id)).toEqual(hold);
    expect(await client().holds.list()).toContainEqual(hold);
    const held = await erase(client(), user);
    expect(held).toMatchObject({ state: "held", holds: [hold.hold_id] });
    expect(await said(client())).toContain(`of ${user}`);
    const { content } = await client().receipts.get(held.erasure_id);
    expect(content).toMatchObject({ state: "held", holds: [hold.hold_id] });

    await client().holds.release(hold.hold_id);
    expect((await client().holds.list()).map(({ hold_id }) => hold_id)).not.toContain(hold.hold_id);
    expect(await client().erasures.wait(held.erasure_id)).toMatchObject({ state: "done_live", holds: [] });
    expect(await said(client())).not.toContain(`of ${user}`);
    await expect(client().holds.release(hold.hold_id)).rejects.toSatisfy(NotFoundError.isInstance);
    await expect(client().holds.get(hold.hold_id)).rejects.toSatisfy(NotFoundError.isInstance);
    const nothing = client().holds.create({ scope: ofUser("nobody-at-all"), reason: "case 8" });
    await expect(nothing).rejects.toSatisfy(NotFoundError.isInstance);
  });
}

function subjectExports({ client }: Context): void {
  it("R-AGT-71 an export is asked for, waited for, downloaded in parts and from the middle, listed and deleted", async () => {
    const user = fresh("asks");
    await remember(client(), user, `of ${user}`);
    await client().threads.append(`thread-${user}`, { user_id: user, text: "also" });
    const begun = await client().subjectExports.create({ subject: ofUser(user) });
    expect(begun.parts).toEqual([]);
    const ready = await client().subjectExports.wait(begun.export_id);
    expect(ready).toMatchObject({ state: "ready", subject: ofUser(user), error: null });
    expect(ready.rows).toContainEqual({ store: "agent-memories", own: 1, mentions: 0 });
    expect(ready.parts.length).toBeGreaterThan(1);

    const bodies: Uint8Array[] = [];
    for await (const { body, bytes, sha256 } of client().subjectExports.parts(begun.export_id)) {
      const read = new Uint8Array(await new Response(body).arrayBuffer());
      expect(read.length).toBe(bytes);
      expect(createHash("sha256").update(read).digest("hex")).toBe(sha256);
      bodies.push(read);
    }
    expect(bodies).toHaveLength(ready.parts.length);
    const whole = bodies[0] as Uint8Array;
    const rest = await client().subjectExports.part(begun.export_id, 1, { start: whole.length - 10 });
    expect(new Uint8Array(await new Response(rest).arrayBuffer())).toEqual(whole.slice(-10));
    const past = client().subjectExports.part(begun.export_id, 1, { start: whole.length });
    await expect(past).rejects.toMatchObject({ code: "INVALID" });
    const noPart = client().subjectExports.part(begun.export_id, ready.parts.length + 1);
    await expect(noPart).rejects.toSatisfy(NotFoundError.isInstance);

    const ids = async () => (await client().subjectExports.list({ limit: 1 }).all()).map(({ export_id }) => export_id);
    expect(await ids()).toContain(begun.export_id);
    await client().subjectExports.delete(begun.export_id);
    expect(await ids()).not.toContain(begun.export_id);
    await expect(client().subjectExports.get(begun.export_id)).rejects.toSatisfy(NotFoundError.isInstance);
    await expect(client().subjectExports.wait(begun.export_id)).rejects.toSatisfy(NotFoundError.isInstance);
  });
}

function tenants({ world, client }: Context): void {
  it("another workspace's admin sees none of it, as if it did not exist", async () => {
    const user = fresh("ours");
    await remember(client(), user, `of ${user}`);
    const { hold_id } = await client().holds.create({ scope: ofUser(user), reason: "case 9" });
    const { erasure_id } = await erase(client(), user);
    const { export_id } = await client().subjectExports.create({ subject: ofUser(user) });
    await client().subjectExports.wait(export_id);
    const other = await world().client("rival");
    await remember(other, "rita", "mine");
    const calls: ((c: PinakesClient) => Promise<unknown>)[] = [
      (c) => c.erasures.request({ subject: ofUser(user) }),
      (c) => c.erasures.request({ subject: ofUser(user), dry_run: true }),
      (c) => c.erasures.request({ subject: ofUser("rita"), workspaces: ["acme"] }),
      (c) => c.erasures.request({ subject: { type: "workspace", id: "acme" } }),
      (c) => c.erasures.get(erasure_id),
      (c) => c.erasures.wait(erasure_id),
      (c) => c.erasures.verify(erasure_id, { subject: ofUser(user) }),
      (c) => c.receipts.get(erasure_id),
      (c) => c.holds.create({ scope: ofUser(user), reason: "ours now" }),
      (c) => c.holds.get(hold_id),
      (c) => c.holds.release(hold_id),
      (c) => c.subjectExports.create({ subject: ofUser(user) }),
      (c) => c.subjectExports.get(export_id),
      (c) => c.subjectExports.part(export_id, 1),
      (c) => c.subjectExports.delete(export_id),
    ];
    for (const call of calls) await expect(call(other), String(call)).rejects.toSatisfy(NotFoundError.isInstance);
    expect(await other.erasures.list().all()).toEqual([]);
    expect(await other.receipts.list().all()).toEqual([]);
    expect(await other.receipts.export()).toBe("");
    expect(await other.holds.list()).toEqual([]);
    expect(await other.subjectExports.list().all()).toEqual([]);
    expect((await client().holds.get(hold_id)).hold_id).toBe(hold_id);
    expect(await said(client())).toContain(`of ${user}`);
  });
}
