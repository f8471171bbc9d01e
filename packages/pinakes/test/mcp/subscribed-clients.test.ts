/** Subscriptions of the official client: what changes after it subscribed reaches it once for all, until it unsubscribes or its key ends. */
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { documentUri, sessionUri, workflowUri } from "../../src/mcp/index.ts";
import { rootToken, type Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { engines, pathOf, revisions, useWorld, type Revision } from "./support/mcp-world.ts";

/** What it hears, and how it stops. */
async function subscribed(client: Client, revision: Revision, uris: readonly string[]) {
  const heard: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void heard.push("list"));
  if (revision === "2026-07-28") {
    const filter = { resourcesListChanged: true, resourceSubscriptions: [...uris] };
    const { close, closed } = await client.listen(filter);
    return { heard, stop: () => close(), closed };
  }
  for (const uri of uris) await client.subscribeResource({ uri });
  const stop = async (): Promise<void> => {
    for (const uri of uris) await client.unsubscribeResource({ uri });
  };
  return { heard, stop, closed: undefined };
}

describe.each(engines)("subscriptions on %s", (engine) => {
  let ann: string;
  let users = 0;
  const world = useWorld(engine, async (opened) => {
    ann = await opened.key("w1", "ann");
  });
  const v1 = (method: string, path: string, body?: unknown, key = ann): Promise<Json> =>
    world().ok(key, method, path, body);
  const said = (content: string, key = ann) =>
    v1("POST", "/v1/agents/a1/memories", { session_id: "talk", message_type: "user", content }, key);
  async function workflow(key = ann): Promise<string> {
    const input = { type: "sequential", name: "W", total_steps: 9 };
    return (await v1("POST", "/v1/workflows", input, key))["workflow_id"] as string;
  }

  describe.each(revisions)("at %s", (revision) => {
    it("tell of documents, workflows, sessions and the list as they change, and of nothing else", async () => {
      const collection_id = `c-${revision}`;
      await v1("POST", "/v1/repositories/me/collections", { collection_id, name: `C ${revision}` });
      const { document_id } = await world().indexed(ann, `me/${collection_id}`, "a.txt", "Words.");
      const { repository_id } = (await v1("GET", "/v1/repositories/me")) as { repository_id: string };
      const [wanted, other] = [await workflow(), await workflow()];
      const uris = [
        documentUri({ repository_id, collection_id, document_id: document_id as string }),
        sessionUri("a1", "talk"),
        workflowUri(wanted),
      ];
      const client = await world().client(revision, ann);
      const { heard, stop } = await subscribed(client, revision, uris);
      await v1("PATCH", `/v1/workflows/${other}`, { description: "not asked for" });
      // The stream of a client at 2025-11-25 may open after its subscription: it hears of later changes.
      let n = 0;
      await until(async () => {
        n += 1;
        await v1("PATCH", `/v1/workflows/${wanted}`, { description: `change ${n}` });
        await said(`message ${n}`);
        await v1("POST", `${pathOf(`me/${collection_id}`)}/documents/${String(document_id)}:reindex`, {});
        await v1("POST", "/v1/repositories/me/collections", { name: `New ${revision} ${n}` });
        return [...uris, "list"].every((one) => heard.includes(one));
      }, 500);
      expect(new Set(heard)).toEqual(new Set([...uris, "list"]));
      await stop();
      if (revision === "2026-07-28") return;
      const before = heard.filter((one) => one !== "list").length;
      await v1("PATCH", `/v1/workflows/${wanted}`, { description: "after it unsubscribed" });
      await v1("POST", "/v1/repositories/me/collections", { name: `Last ${revision}` });
      // Both feeds are read within a second of each other; the list is what this client still hears of.
      const lists = heard.filter((one) => one === "list").length;
      await until(async () => heard.filter((one) => one === "list").length > lists);
      expect(heard.filter((one) => one !== "list")).toHaveLength(before);
    });

    it("end with the key that opened them", async () => {
      users += 1;
      const user = `leaving-${users}`;
      const { json } = await world().v1(rootToken, "POST", "/v1/keys", { workspace_id: "w1", user_id: user });
      const { key, key_id } = json as { key: string; key_id: string };
      const wanted = await workflow(key);
      const client = await world().client(revision, key);
      const { heard } = await subscribed(client, revision, [workflowUri(wanted)]);
      let n = 0;
      const change = () => v1("PATCH", `/v1/workflows/${wanted}`, { description: `change ${(n += 1)}` });
      await until(async () => {
        await change();
        return heard.length > 0;
      }, 500);
      await v1("DELETE", `/v1/keys/${key_id}`, undefined, rootToken);
      // Another client hears of a later change than this one could.
      const witness = await subscribed(await world().client(revision, ann), revision, [workflowUri(wanted)]);
      await until(async () => {
        await change();
        return witness.heard.length > 0;
      }, 500);
      const after = heard.length;
      witness.heard.length = 0;
      await until(async () => {
        await change();
        return witness.heard.length > 3;
      }, 500);
      expect(heard).toHaveLength(after);
      await witness.stop();
    });
  });

  it("at 2026-07-28 no change after the acknowledgement is missed", async () => {
    const client = await world().client("2026-07-28", ann);
    for (let round = 0; round < 5; round += 1) {
      const wanted = await workflow();
      const { heard, stop } = await subscribed(client, "2026-07-28", [workflowUri(wanted)]);
      await v1("PATCH", `/v1/workflows/${wanted}`, { description: "at once" });
      await expect.poll(() => heard).toContain(workflowUri(wanted));
      await stop();
    }
  });
});
