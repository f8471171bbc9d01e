/** Any process of a deployment serves the next request of any client: sessions, their selections, and questions to their users. */
import { describe, expect, it } from "vitest";
import { requestInit, type Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { base64, call, metadataOf, revisions, succeed, type Revision } from "./support/mcp-world.ts";
import { TwoProcesses } from "./support/two-processes.ts";
import { forAllTests } from "../support/for-tests.ts";

const two = forAllTests(() => TwoProcesses.open());

/** What differs between two conversations that say the same. */
function alike(value: unknown): unknown {
  const text = JSON.stringify(value, (name, part: unknown) =>
    /(_id|_at|_handle|^id|^uri|url|name|s3_prefix|job_id|score|etag|_ts|timestamp|created_by|deleted|duration.*)$/.test(
      name,
    ) ||
    (name === "text" && typeof part === "string")
      ? typeof part
      : part,
  );
  return JSON.parse(text) as unknown;
}

async function conversation(revision: Revision, url: string, user: string): Promise<unknown[]> {
  const { world } = two;
  const key = await world.key("w1", user);
  const client = await world.client(revision, key, { url });
  const said: unknown[] = [(await client.listTools()).tools, (await client.listResourceTemplates()).resourceTemplates];
  const say = async (name: string, args: Record<string, unknown>): Promise<Json> => {
    const { structured } = await call(client, name, args);
    said.push([name, alike(structured)]);
    return structured;
  };
  const { catalog_id } = metadataOf(await say("create_catalog", { catalog_name: "Otters" }));
  const file = { filename: "otters.txt", file_content: base64("Otters hold hands while they sleep.") };
  await say("upload_to_catalog", { catalog_id, ...file });
  await until(async () => {
    const { metadata } = await succeed(client, "get_indexing_status", { catalog_id });
    return ((metadata as Json)["statistics"] as Json)["documents_indexed"] === 1;
  });
  const { selection_handle } = metadataOf(await say("select_catalog", { catalog_id }));
  const handle = selection_handle === undefined ? {} : { selection_handle };
  for (let i = 0; i < 3; i += 1) await say("query_catalog", { query: "how do otters sleep?", ...handle });
  const { workflow } = await say("workflow_create", { type: "sequential", name: "W", total_steps: 2 });
  const { workflow_id } = workflow as Json;
  await say("workflow_checkpoint", { workflow_id, step: 1, state: { at: 1 } });
  await say("workflow_get", { workflow_id });
  const { contents } = await client.readResource({
    uri: `state://workflows/${String(workflow_id)}/checkpoints/latest`,
  });
  said.push(alike(JSON.parse((contents[0] as { text: string }).text)));
  await say("delete_catalog", { catalog_id, confirm: true });
  await say("query_catalog", { query: "how do otters sleep?", ...handle });
  return said;
}

describe("two processes on the same stores", () => {
  it.each(revisions)("give the same answers for a whole conversation at %s as one alone", async (revision) => {
    const before = two.passed.length;
    const proxied = await conversation(revision, two.world.url, `proxied-${revision}`);
    const used = two.passed.slice(before).filter(({ rpc }) => rpc === "tools/call");
    expect(new Set(used.map(({ to }) => to))).toEqual(new Set([0, 1]));
    expect(proxied).toEqual(await conversation(revision, two.urls[0], `alone-${revision}`));
  });

  it.each(revisions)("at %s a client of one hears of what was changed at the other", async (revision) => {
    const { world } = two;
    const key = await world.key("w1", `hears-${revision}`);
    const v1 = async (method: string, path: string, body?: unknown): Promise<Json> => {
      const answer = await fetch(`${two.urls[1]}${path}`, requestInit(method, { key, body }));
      return (await answer.json()) as Json;
    };
    const { workflow_id } = await v1("POST", "/v1/workflows", { type: "sequential", name: "W", total_steps: 9 });
    const uri = `state://workflows/${String(workflow_id)}`;
    const client = await world.client(revision, key, { url: two.urls[0] });
    const heard = new Set<string>();
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.add(params.uri));
    client.setNotificationHandler("notifications/resources/list_changed", () => void heard.add("list"));
    if (revision === "2025-11-25") await client.subscribeResource({ uri });
    else await client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri] });
    await v1("PATCH", `/v1/workflows/${String(workflow_id)}`, { description: "changed" });
    await v1("POST", "/v1/repositories/me/collections", { name: `New ${revision}` });
    await expect.poll(() => [...heard].toSorted()).toEqual(["list", uri]);
  });

  it("serve a session that the other one initialized; ended at one it has ended at both, streams included", async () => {
    const { world } = two;
    const key = await world.key("w1", "ann");
    const { transport } = await world.connect("2025-11-25", key, { url: two.urls[0] });
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      "mcp-session-id": transport.sessionId as string,
    };
    const list = (at: 0 | 1) =>
      fetch(`${two.urls[at]}/mcp`, {
        method: "POST",
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/list" }),
      });
    const answers = await Promise.all(
      ([0, 1, 1] as const).map(async (at) => {
        const answer = await list(at);
        return [answer.status, await answer.text()];
      }),
    );
    expect(answers[0]?.[0]).toBe(200);
    expect(answers[1]).toEqual(answers[0]);
    const stream = await fetch(`${two.urls[1]}/mcp`, { headers });
    expect(stream.status).toBe(200);
    // Another client's DELETE of the session, at the process that has no stream.
    await transport.terminateSession();
    for (const at of [0, 1] as const) expect((await list(at)).status).toBe(404);
    // Ends by itself.
    await stream.text();
    expect((await fetch(`${two.urls[1]}/mcp`, { headers })).status).toBe(404);
  });

  it("complete a question that one asked and whose answer arrives at the other", async () => {
    const { world } = two;
    const key = await world.key("w1", "asked");
    const created = await world.ok(key, "POST", "/v1/repositories/me/collections", { name: "Doomed" });
    const catalog_id = created["collection_id"] as string;
    two.route = ({ method, rpc }) => (method === "POST" && rpc === undefined ? 1 : 0);
    const asked: string[] = [];
    const client = await world.client("2025-11-25", key, {
      elicit: (message) => {
        asked.push(message);
        return { action: asked.length === 1 ? "decline" : "accept", content: { confirm: true } } as never;
      },
    });
    const declined = await call(client, "delete_catalog", { catalog_id });
    expect(metadataOf(declined.structured)).toMatchObject({ error_code: "CONFIRMATION_REQUIRED", dry_run: true });
    await succeed(client, "delete_catalog", { catalog_id });
    expect(asked).toHaveLength(2);
    const answers = two.passed.filter(({ method, rpc }) => method === "POST" && rpc === undefined);
    expect(answers.slice(-2).map(({ to }) => to)).toEqual([1, 1]);
    expect((await world.v1(key, "GET", `/v1/repositories/me/collections/${catalog_id}`)).status).toBe(404);
    two.route = undefined;
  });

  it("deliver no answer to a question of another session", async () => {
    const { world } = two;
    const [key, other] = [await world.key("w1", "one"), await world.key("w1", "two")];
    const created = await world.ok(key, "POST", "/v1/repositories/me/collections", { name: "Kept" });
    const catalog_id = created["collection_id"] as string;
    const foreign = await world.connect("2025-11-25", other, { url: two.urls[1] });
    const own = await world.connect("2025-11-25", key, { url: two.urls[1] });
    const rounds: number[] = [];
    const client = await world.client("2025-11-25", key, {
      url: two.urls[0],
      elicit: async () => {
        // Before the user has answered, others claim to be the user: another user, and another session of the same user.
        for (const { transport, who } of [
          { transport: foreign.transport, who: other },
          { transport: own.transport, who: key },
        ]) {
          const sent = await fetch(`${two.urls[1]}/mcp`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${who}`,
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              "mcp-session-id": transport.sessionId as string,
            },
            body: JSON.stringify({
              jsonrpc: "2.0",
              id: lastAsked,
              result: { action: "accept", content: { confirm: true } },
            }),
          });
          rounds.push(sent.status);
        }
        return { action: "decline" };
      },
    });
    let lastAsked: unknown;
    const { transport } = client as unknown as { transport: { onmessage: (message: Json, extra: unknown) => void } };
    const deliver = transport.onmessage;
    Object.assign(transport, {
      onmessage: (message: Json, extra: unknown) => {
        if (message["method"] === "elicitation/create") lastAsked = message["id"];
        deliver(message, extra);
      },
    });
    const { structured } = await call(client, "delete_catalog", { catalog_id });
    expect(rounds).toEqual([202, 202]);
    expect(lastAsked).toMatch(/^[\w-]+:\d+$/);
    expect(metadataOf(structured)).toMatchObject({ dry_run: true });
    expect((await world.v1(key, "GET", `/v1/repositories/me/collections/${catalog_id}`)).status).toBe(200);
  });
});
