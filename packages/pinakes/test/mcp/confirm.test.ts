/** Deletes ask the client's user, at both revisions; without an answer nothing is deleted. */
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import type { Json } from "../http/support/server.ts";
import {
  base64,
  call,
  engines,
  metadataOf,
  newClient,
  revisions,
  succeed,
  useWorld,
  type Elicited,
} from "./support/mcp-world.ts";

const deletes = ["delete_catalog", "delete_catalog_document"] as const;
type Delete = (typeof deletes)[number];

interface Files {
  readonly key: string;
  readonly catalog_id: string;
  readonly document_id: string;
}

describe.each(engines)("confirmation of deletes on %s", (engine) => {
  const world = useWorld(engine);
  let users = 0;

  /** A user's catalog with one file. */
  async function files(key?: string, name = "Recipes"): Promise<Files> {
    users += 1;
    const own = key ?? (await world().key("w1", `user${users}`));
    const { collection_id } = await world().ok(own, "POST", "/v1/repositories/me/collections", { name });
    const { documents } = await world().ok(
      own,
      "POST",
      `/v1/repositories/me/collections/${String(collection_id)}/documents`,
      { name: "soup.txt", text: "Leek soup." },
    );
    const [document] = documents as Json[];
    return { key: own, catalog_id: collection_id as string, document_id: document?.["document_id"] as string };
  }
  const argsOf = (tool: Delete, { catalog_id, document_id }: Files): Record<string, string> =>
    tool === "delete_catalog" ? { catalog_id } : { catalog_id, document_id };

  async function exists(tool: Delete, { key, catalog_id, document_id }: Files): Promise<boolean> {
    const at = `/v1/repositories/me/collections/${catalog_id}`;
    const { status } = await world().v1(key, "GET", tool === "delete_catalog" ? at : `${at}/documents/${document_id}`);
    expect([200, 404]).toContain(status);
    return status === 200;
  }

  describe.each(revisions)("at %s", (revision) => {
    describe.each(deletes)("%s", (tool) => {
      const asking = (key: string, answer: Elicited, asked: string[] = []): Promise<Client> =>
        world().client(revision, key, {
          elicit: (message) => {
            asked.push(message);
            return answer;
          },
        });

      it("R-KB-42 asks once what shall be deleted, and deletes it when the user accepts", async () => {
        const target = await files();
        const asked: string[] = [];
        const client = await asking(target.key, { action: "accept", content: { confirm: true } }, asked);
        expect(await succeed(client, tool, argsOf(tool, target))).toMatchObject({ status: "success" });
        expect(asked).toEqual([
          tool === "delete_catalog"
            ? 'Delete the catalog "Recipes" with its document permanently?'
            : 'Delete "soup.txt" permanently?',
        ]);
        expect(await exists(tool, target)).toBe(false);
      });

      const answers: readonly (readonly [string, Elicited])[] = [
        ["declines", { action: "decline" }],
        ["cancels", { action: "cancel" }],
        ["accepts without the confirmation", { action: "accept", content: { confirm: false } }],
        ["answers something else", { action: "accept", content: { confirm: "yes, all of it" } }],
        ["leaves it out", { action: "accept", content: {} }],
      ];
      it.each(answers)("deletes nothing when the user %s", async (_, answer) => {
        const target = await files();
        const client = await asking(target.key, answer);
        const refused = await call(client, tool, argsOf(tool, target)).catch((error: unknown) => ({
          isError: true,
          structured: {},
          text: String(error),
        }));
        expect(refused.isError, refused.text).toBe(true);
        if (answer.action !== "accept" || answer.content["confirm"] === false)
          expect(metadataOf(refused.structured)).toMatchObject({
            error_code: "CONFIRMATION_REQUIRED",
            dry_run: true,
            would_delete: 1,
          });
        expect(await exists(tool, target)).toBe(true);
      });

      it("is a dry run for a client that cannot ask its user, and deletes with confirm: true", async () => {
        const target = await files();
        const client = await world().client(revision, target.key);
        const { isError, text, structured } = await call(client, tool, argsOf(tool, target));
        expect(isError).toBe(true);
        expect(text).toContain("Nothing was deleted.");
        expect(metadataOf(structured)).toMatchObject({ error_code: "CONFIRMATION_REQUIRED", dry_run: true });
        expect(await exists(tool, target)).toBe(true);
        expect((await call(client, tool, { ...argsOf(tool, target), confirm: false })).isError).toBe(true);
        expect(await exists(tool, target)).toBe(true);
        await succeed(client, tool, { ...argsOf(tool, target), confirm: true });
        expect(await exists(tool, target)).toBe(false);
      });

      it("does not ask about what is not there", async () => {
        const target = await files();
        const other = await files();
        const asked: string[] = [];
        const client = await asking(target.key, { action: "accept", content: { confirm: true } }, asked);
        const theirs = await call(client, tool, argsOf(tool, other));
        const missing = await call(client, tool, argsOf(tool, { ...other, catalog_id: "none-such" }));
        expect(theirs.text.replaceAll(other.catalog_id, "none-such")).toBe(missing.text);
        expect(missing.isError).toBe(true);
        expect(asked).toEqual([]);
        expect(await exists(tool, other)).toBe(true);
      });
    });
  });

  it("a client that offers no forms, only addresses to visit, gets a dry run", async () => {
    for (const revision of revisions) {
      const target = await files();
      const visiting = newClient(revision);
      visiting.registerCapabilities({ elicitation: { url: {} } });
      visiting.setRequestHandler("elicitation/create", () => ({ action: "accept" }));
      await visiting.connect(world().transport(target.key));
      const { structured } = await call(visiting, "delete_catalog", { catalog_id: target.catalog_id });
      expect(metadataOf(structured), revision).toMatchObject({ error_code: "CONFIRMATION_REQUIRED" });
      expect(await exists("delete_catalog", target)).toBe(true);
      await visiting.close();
    }
  });

  it("a consent for one deletion confirms no other, however alike they are", async () => {
    const one = await files();
    const two = await files(one.key, "Second");
    const rpc = async (args: Record<string, unknown>, inputResponses?: object): Promise<Json> => {
      const response = await fetch(`${world().url}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${one.key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "delete_catalog_document",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "delete_catalog_document",
            arguments: args,
            ...(inputResponses === undefined ? {} : { inputResponses }),
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
            },
          },
        }),
      });
      const text = await response.text();
      const data = /^data: (\{.*\})$/m.exec(text)?.[1] ?? text;
      return (JSON.parse(data) as { result: Json }).result;
    };
    const args = ({ catalog_id, document_id }: Files) => ({ catalog_id, document_id });
    const asked = await rpc(args(one));
    expect(asked).toMatchObject({ resultType: "input_required" });
    const [key = ""] = Object.keys(asked["inputRequests"] as object);
    const consent = { [key]: { action: "accept", content: { confirm: true } } };
    // The same file name in another catalog: the user said yes to another file.
    expect(await rpc(args(two), consent)).toMatchObject({ resultType: "input_required" });
    expect(await exists("delete_catalog_document", two)).toBe(true);
    expect(await exists("delete_catalog_document", one)).toBe(true);
    expect(await rpc(args(one), consent)).toMatchObject({ structuredContent: { status: "success" } });
    expect(await exists("delete_catalog_document", one)).toBe(false);
    // Nor the deletion of the catalog when it has become a larger one since.
    const client = await world().client("2026-07-28", two.key, {
      elicit: async (message) => {
        if (message.includes("its document"))
          await world().ok(two.key, "POST", `/v1/repositories/me/collections/${two.catalog_id}/documents`, {
            name: "bread.txt",
            text: base64("Bread."),
          });
        return message.includes("2 documents")
          ? { action: "decline" }
          : { action: "accept", content: { confirm: true } };
      },
    });
    const { structured } = await call(client, "delete_catalog", { catalog_id: two.catalog_id });
    expect(metadataOf(structured)).toMatchObject({ error_code: "CONFIRMATION_REQUIRED", would_delete: 2 });
    expect(await exists("delete_catalog", two)).toBe(true);
  });
});
