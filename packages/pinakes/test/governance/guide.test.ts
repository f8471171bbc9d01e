/** The examples of docs/governance.md, run as a reader would. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@pinakes/client";
import { beforeAll, describe, expect, it } from "vitest";
import { blocksOf, openGuide } from "../support/guide.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { forAllTests } from "../support/for-tests.ts";

const dir = temporaryFolder("governance-guide");

describe("docs/governance.md", () => {
  let client: ReturnType<typeof connect>;
  const guide = forAllTests(() => openGuide(dir));
  beforeAll(async () => {
    client = connect({ url: guide.url, key: guide.rootToken });
    await client.repositories.create({ repository_id: "kb", name: "Knowledge" });
    await client.collections.create({ repository: "kb", collection_id: "papers", name: "Papers" });
    await remember("otto", "of otto");
  });

  const remember = (user: string, content: string) =>
    client.memories.append({
      agent_id: "helper",
      session_id: `s-${user}`,
      message_type: "user",
      content,
      metadata: { user_id: user },
    });
  const said = async () => (await client.memories.list({ agent_id: "helper" }).all()).map(({ content }) => content);

  it("the TypeScript is one program: it counts, erases, verifies, holds and exports", async () => {
    await remember("erin", "of erin");
    const printed = await guide.program(await blocksOf("governance.md", "ts"));
    expect(printed).toContain("agent-memories: 1");
    expect(printed).toMatch(/^done_live$/m);
    expect(printed).toContain("{ remaining: 0, valid: true }");
    expect(printed).toMatch(/^1 [1-9]\d*$/m);
    expect(await said()).toEqual(["of otto"]);
    expect(await client.holds.list()).toEqual([]);
  });

  it("every shell line works, in its order", async () => {
    await remember("erin", "of erin again");
    const [key = ""] = (await client.audit.checkpoint()).keys;
    const { calls, answers } = await guide.shell(await blocksOf("governance.md", "sh"), {
      PINAKES_URL: guide.url,
      PINAKES_KEY: guide.rootToken,
      KEY: guide.rootToken,
      AUDIT_KEY: key,
    });
    expect(calls).toHaveLength(1);
    expect(answers.map(({ status }) => status)).toEqual([200]);
    const output = await guide.output();
    expect(output).toMatch(/^VALID: entries 0 to before \d+/m);
    expect(output).toMatch(/state +counted \(dry run\)/);
    expect(output).toMatch(/state +done_live/);
    expect(output).toMatch(/^VALID: 2 receipts/m);
    expect(output).toContain("the collection kb/papers");
    expect(await said()).toEqual(["of otto"]);
    expect((await client.holds.list()).map(({ reason }) => reason)).toEqual(["case 7", "case 8"]);
    expect(existsSync(join(dir, "audit.ndjson"))).toBe(true);
    expect(readdirSync(join(dir, "otto"))).toEqual([expect.stringMatching(/^[\w-]+-1\.zip$/)]);
  });
});
