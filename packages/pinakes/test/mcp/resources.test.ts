/** Resources: what can be listed, read and completed, and what the protocol answers for the rest. */
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { collectionUri, documentUri, sessionUri, workflowUri } from "../../src/mcp/index.ts";
import type { Json } from "../http/support/server.ts";
import { engines, pathOf, revisions, succeed, useWorld } from "./support/mcp-world.ts";

const templates = {
  collection: "pinakes://repositories/{repository}/collections/{collection}",
  document: "pinakes://repositories/{repository}/collections/{collection}/documents/{document}",
  excerpt:
    "pinakes://repositories/{repository}/collections/{collection}/documents/{document}/versions/{version}/text/{start}/{end}",
  workflow: "state://workflows/{workflow}",
  checkpoint: "state://workflows/{workflow}/checkpoints/{step}",
  session: "state://agents/{agent}/sessions/{session}",
  receipt: "state://receipts/{erasure}",
};
const papers = "library/papers";
const ids = { repository_id: "library", collection_id: "papers" };
/** What the template of documents states. */
const charsMax = 1_000_000;
/** Mostly blank lines, which need no vectors; the limit is within a character of two code units. */
const largeText = `${"The beginning.".padEnd(charsMax - 1, "\n")}🦦 in the middle${"\n".repeat(charsMax)}The end of it all.`;
const oddNames = [
  "two words",
  "a/b",
  "naïve ünïcødé 日本",
  "100%",
  "%2F",
  "a?b#c&d=e",
  "a,b;c",
  "'\"<>\\",
  "🦦",
  "a+b",
];

describe.each(engines)("resources on %s", (engine) => {
  let ann: string;
  let document: Json;
  let large: string;
  let workflow: string;
  const world = useWorld(engine, async (opened) => {
    const boss = await opened.key("w1", "boss", { role: "admin" });
    ann = await opened.key("w1", "ann");
    await opened.ok(boss, "POST", "/v1/repositories", { repository_id: "library" });
    await opened.ok(ann, "POST", "/v1/repositories/library/collections", { collection_id: "papers", name: "Papers" });
    document = await opened.indexed(ann, papers, "otters.md", "# Otters\n\nOtters hold hands 🦦 while they sleep.\n");
    await opened.ok(ann, "POST", "/v1/repositories/library/collections", { collection_id: "large", name: "Large" });
    const { document_id } = await opened.indexed(ann, "library/large", "large.txt", largeText);
    large = document_id as string;
    const input = { type: "sequential", name: "W", total_steps: 9 };
    workflow = (await opened.ok(ann, "POST", "/v1/workflows", input))["workflow_id"] as string;
    for (const step of [1, 2])
      await opened.ok(ann, "POST", `/v1/workflows/${workflow}/checkpoints`, { step, state: { step } });
    const message = { session_id: "talk", message_type: "user" };
    for (const content of ["one", "two"])
      await opened.ok(ann, "POST", "/v1/agents/a1/memories", { ...message, content });
  });

  describe.each(revisions)("at %s", (revision) => {
    const connected = (key = ann): Promise<Client> => world().client(revision, key);
    const v1 = (path: string): Promise<Json> => world().ok(ann, "GET", path);
    async function text(client: Client, uri: string): Promise<string> {
      const { contents } = await client.readResource({ uri });
      expect(contents).toHaveLength(1);
      const [only] = contents as [{ uri: string; mimeType: string; text: string }];
      expect(only.uri).toBe(uri);
      return only.text;
    }
    const json = async (client: Client, uri: string): Promise<Json> => JSON.parse(await text(client, uri)) as Json;

    it("lists the collections that the caller may read, and every template", async () => {
      const client = await connected();
      const { resources } = await client.listResources();
      expect(resources.map(({ uri, name, title, mimeType }) => ({ uri, name, title, mimeType }))).toEqual(
        expect.arrayContaining([
          { uri: collectionUri(ids), name: papers, title: "Papers", mimeType: "application/json" },
        ]),
      );
      expect((await (await connected(await world().key("w2", "ann"))).listResources()).resources).toEqual([]);
      const listed = (await client.listResourceTemplates()).resourceTemplates;
      expect(Object.fromEntries(listed.map(({ name, uriTemplate }) => [name, uriTemplate]))).toEqual(templates);
      for (const { name, title, description, mimeType } of listed)
        expect(
          [title, description, mimeType].every((one) => typeof one === "string" && one !== ""),
          name,
        ).toBe(true);
    });

    it("reads a collection, a document, a workflow, checkpoints and a session as /v1 has them", async () => {
      const client = await connected();
      const { document_id } = document as { document_id: string };
      const collection = await json(client, collectionUri(ids));
      expect(collection["collection"]).toMatchObject({ ...ids, name: "Papers", document_count: 1 });
      expect(collection["documents"]).toEqual((await v1(`${pathOf(papers)}/documents?limit=100`))["items"]);
      expect(await text(client, documentUri({ ...ids, document_id }))).toBe(
        (await v1(`${pathOf(papers)}/documents/${document_id}/text`))["text"],
      );
      expect(await json(client, workflowUri(workflow))).toEqual(await v1(`/v1/workflows/${workflow}`));
      expect(await json(client, `${workflowUri(workflow)}/checkpoints/1`)).toMatchObject({ state: { step: 1 } });
      expect(await json(client, `${workflowUri(workflow)}/checkpoints/latest`)).toMatchObject({ state: { step: 2 } });
      const session = await json(client, sessionUri("a1", "talk"));
      expect(session["session"]).toEqual(await v1("/v1/agents/a1/sessions/talk"));
      expect((session["messages"] as { items: Json[] }).items.map(({ content }) => content)).toEqual(["one", "two"]);
    });

    it("reads exactly what a hit cites, by the address that the hit has", async () => {
      const client = await connected();
      const { hits } = await succeed(client, "search", { query: "how do otters sleep?", in: [papers] });
      const [first] = hits as { uri: string; citation: { quote: string; start: number; end: number } }[];
      const { quote } = first?.citation ?? { quote: "" };
      expect(quote).toContain("🦦");
      expect(await text(client, first?.uri ?? "")).toBe(quote);
    });

    it("reads a large document up to the limit that its template states, and any part of it as an excerpt", async () => {
      const client = await connected();
      const at = { repository_id: "library", collection_id: "large", document_id: large };
      const { resourceTemplates } = await client.listResourceTemplates();
      const { description } = resourceTemplates.find(({ name }) => name === "document") as { description: string };
      expect(description).toContain(`at most ${charsMax} characters`);
      const read = await text(client, documentUri(at));
      expect(read).toBe(largeText.slice(0, charsMax - 1));
      const end = largeText.length;
      expect(await text(client, `${documentUri(at)}/versions/1/text/${end - 18}/${end}`)).toBe("The end of it all.");
    });

    it("finds names with any characters, and what they were made of is completed", async () => {
      const client = await connected();
      const agent = `agent ${revision}`;
      for (const session_id of oddNames)
        await succeed(client, "memory_append", {
          agent_id: agent,
          session_id,
          message_type: "user",
          content: session_id,
        });
      for (const name of oddNames) {
        const { session, messages } = await json(client, sessionUri(agent, name));
        expect(session).toMatchObject({ agent_id: agent, session_id: name });
        expect((messages as { items: Json[] }).items.map(({ content }) => content)).toEqual([name]);
      }
      const { completion } = await client.complete({
        ref: { type: "ref/resource", uri: templates.session },
        argument: { name: "session", value: "" },
        context: { arguments: { agent } },
      });
      expect(completion.values.toSorted()).toEqual(oddNames.toSorted());
      const own = await world().ok(ann, "POST", "/v1/repositories/me/collections", { name: `Odd ${revision}` });
      const collection = `me/${String(own["collection_id"])}`;
      for (const name of ["two words.txt", "100% naïve 日本.txt"]) await world().indexed(ann, collection, name, name);
      const { hits } = await succeed(client, "search", { query: "naïve 100%", in: [collection] });
      for (const { uri, citation } of hits as { uri: string; citation: Json }[])
        expect(await text(client, uri)).toBe(citation["quote"]);
    });

    it("answers what does not exist as the protocol wants it, without telling why", async () => {
      const client = await connected();
      const { document_id } = document as { document_id: string };
      const unknown = [
        "pinakes://repositories/library/collections/none",
        "pinakes://repositories/none/collections/papers",
        "pinakes://repositories/library/collections/papers/documents/none",
        `${documentUri({ ...ids, document_id })}/versions/9/text/0/1`,
        `${documentUri({ ...ids, document_id })}/versions/1/text/5/1`,
        `${documentUri({ ...ids, document_id })}/versions/x/text/0/1`,
        `${documentUri({ ...ids, document_id })}/versions/1/text/-1/1`,
        `${documentUri({ ...ids, document_id })}/versions/1/text/0/1e400`,
        "state://workflows/none",
        `state://workflows/${workflow}/checkpoints/77`,
        `state://workflows/${workflow}/checkpoints/first`,
        "state://agents/a1/sessions/none",
        "state://agents/none/sessions/talk",
        "state://agents/%E0%A4%A/sessions/talk",
        "state://agents/a1",
        "state://receipts/none",
        "pinakes://repositories",
        "file:///etc/passwd",
        "https://example.com/",
        "pinakes://repositories/library/collections/..%2F..%2F",
      ];
      for (const uri of unknown)
        await expect(client.readResource({ uri }), uri).rejects.toMatchObject({
          code: -32_602,
          message: expect.stringMatching(/not found/i),
          data: { uri: expect.any(String) },
        });
      await expect(client.readResource({ uri: "no address" })).rejects.toMatchObject({ code: -32_602 });
    });

    it("completes each variable that names something, within what was filled in before", async () => {
      const client = await connected();
      const { document_id } = document as { document_id: string };
      const complete = async (
        kind: keyof typeof templates,
        name: string,
        value: string,
        filled: Record<string, string> = {},
      ) =>
        (
          await client.complete({
            ref: { type: "ref/resource", uri: templates[kind] },
            argument: { name, value },
            context: { arguments: filled },
          })
        ).completion.values;
      expect(await complete("collection", "repository", "")).toEqual(expect.arrayContaining(["me", "library"]));
      expect(await complete("collection", "repository", "lib")).toEqual(["library"]);
      expect(await complete("collection", "collection", "p", { repository: "library" })).toEqual(["papers"]);
      expect(await complete("collection", "collection", "pap")).toEqual(["papers"]);
      const within = { repository: "library", collection: "papers" };
      expect(await complete("document", "document", "", within)).toEqual([document_id]);
      expect(await complete("document", "document", "", { repository: "library" })).toEqual([]);
      expect(await complete("excerpt", "version", "", { ...within, document: document_id })).toEqual(["1"]);
      expect(await complete("excerpt", "start", "", within)).toEqual([]);
      expect(await complete("workflow", "workflow", workflow.slice(0, -1))).toEqual([workflow]);
      expect(await complete("checkpoint", "step", "", { workflow })).toEqual(["latest", "2", "1"]);
      expect(await complete("session", "session", "t", { agent: "a1" })).toEqual(["talk"]);
      expect(await complete("session", "session", "t")).toEqual([]);
      expect(await complete("session", "agent", "a1")).toEqual(["a1"]);
      // Within what does not exist there is nothing.
      expect(await complete("collection", "collection", "", { repository: "none" })).toEqual([]);
      expect(await complete("document", "document", "", { ...within, collection: "none" })).toEqual([]);
      expect(await complete("checkpoint", "step", "", { workflow: "none" })).toEqual([]);
      const ref = { type: "ref/resource" as const, uri: "pinakes://no/{template}" };
      await expect(client.complete({ ref, argument: { name: "template", value: "" } })).rejects.toMatchObject({
        code: -32_602,
      });
    });
  });
});
