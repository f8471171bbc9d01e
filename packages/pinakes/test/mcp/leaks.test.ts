/** Leaks: every tool and every resource, called by users who must not see or change what they are about. */
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { tools } from "../../src/mcp/tools/index.ts";
import type { Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import {
  adminResources,
  filledOf,
  making,
  onDocuments,
  onResources,
  onState,
  stateResources,
  type Attempts,
  type Target,
} from "./support/leak-attempts.ts";
import { metadataOf, pathOf, revisions, succeed, useWorld, type McpWorld } from "./support/mcp-world.ts";

const marker = "quokka271828";
/** An id of the same form that was never given. */
const ofNever = (id: string): string => id.replaceAll(/\d/g, (digit) => String(9 - Number(digit)));

describe("leaks over MCP", () => {
  let ann: string;
  let boss: string;
  let targets: Target[];
  const world = useWorld("SQLite", async (opened) => {
    ann = await opened.key("w1", "ann-3141", { groups: ["inner"] });
    boss = await opened.key("w1", "boss", { role: "admin" });
    targets = await fill(opened, ann, boss);
  });

  /** What the world holds; the same after each walk. */
  async function snapshot(): Promise<string> {
    const read = async (path: string): Promise<string> => {
      const { status, json } = await world().v1(ann, "GET", path);
      // Searches and reads of its own are told in last_used_at.
      return `${path} ${status} ${JSON.stringify(json).replaceAll(/"(last_used_at|next_cursor)":("[^"]*"|null)/g, "")}`;
    };
    const [first] = targets as [Target];
    const paths = targets.flatMap(({ rid, cid, did }) => {
      const at = pathOf(`${rid}/${cid}`);
      return [at, `${at}/documents`, `${at}/documents/${did}`, `${at}/triples`];
    });
    const state = [`/v1/workflows/${first.wid}`, `/v1/agents/${first.aid}/sessions/${first.sid}/messages`];
    return (await Promise.all([...paths, ...state].map(read))).join("\n");
  }

  /** What a call answers, its failure included. */
  const said = async (run: () => Promise<unknown>): Promise<string> => {
    try {
      return JSON.stringify(await run());
    } catch (error) {
      const { code, message, data } = error as Error & { code?: unknown; data?: unknown };
      return JSON.stringify({ code, message, data });
    }
  };
  /** Links and new ids are never the same twice. */
  const masked = (text: string, target: Target): string => {
    let shown = text;
    for (const [name, id] of Object.entries(target))
      if (typeof id === "string")
        shown = shown.replaceAll(id, `<${name}>`).replaceAll(encodeURIComponent(id), `<${name}>`);
    return shown;
  };
  const expectNothing = (answer: string, sent: string, what: string): void => {
    const secrets = [marker, ...targets.flatMap(({ citation: _, ...ids }) => Object.values(ids))];
    // The open repository is no secret, only what is in it.
    const leaked = secrets.filter(
      (secret) => secret !== "commons" && answer.includes(secret) && !sent.includes(secret),
    );
    expect(leaked, `${what} tells of another's: ${answer}`).toEqual([]);
  };

  async function walk(client: Client, wanted: Readonly<Record<string, Attempts>>): Promise<number> {
    let made = 0;
    for (const target of targets)
      for (const [name, attempts] of Object.entries(wanted)) {
        const nothing = neverOf(target);
        const others = attempts(nothing);
        for (const [i, args] of attempts(target).entries()) {
          const ask = (asked: Record<string, unknown>) => said(() => client.callTool({ name, arguments: asked }));
          const answer = await ask(args);
          const sent = JSON.stringify(args);
          expectNothing(answer, sent, `${name} ${sent}`);
          if (making[name] === undefined && name !== "create_catalog")
            expect(masked(answer, target), `${name} ${sent}`).toBe(masked(await ask(others[i] ?? {}), nothing));
          made += 1;
        }
      }
    return made;
  }

  async function walkResources(client: Client, kinds: readonly string[]): Promise<void> {
    const { resourceTemplates } = await client.listResourceTemplates();
    expectNothing(JSON.stringify(await client.listResources()), "", "resources/list");
    for (const target of targets) {
      const nothing = neverOf(target);
      for (const kind of kinds) {
        const others = onResources[kind]?.(nothing) ?? [];
        for (const [i, uri] of (onResources[kind]?.(target) ?? []).entries()) {
          const answer = await said(() => client.readResource({ uri }));
          expect(answer, uri).toContain("not found");
          expectNothing(answer, uri, uri);
          const missing = await said(() => client.readResource({ uri: others[i] ?? "" }));
          expect(masked(answer, target), uri).toBe(masked(missing, nothing));
        }
        const template = resourceTemplates.find(({ name }) => name === kind)?.uriTemplate ?? "";
        for (const [, name = ""] of template.matchAll(/\{(\w+)\}/g)) {
          const filled = filledOf(target);
          const offered = await client.complete({
            ref: { type: "ref/resource", uri: template },
            argument: { name, value: "" },
            context: { arguments: filled },
          });
          expectNothing(JSON.stringify(offered), JSON.stringify({ ...filled, [name]: "" }), `${kind}.${name}`);
        }
      }
    }
  }

  it("knows how to call every tool and to read every resource, and no other", async () => {
    const client = await world().client("2026-07-28", ann);
    expect(Object.keys({ ...onDocuments, ...onState }).toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(Object.keys(onResources).toSorted()).toEqual(resourceTemplates.map(({ name }) => name).toSorted());
  });

  it("is not blind: the owner gets the secrets from these same calls", async () => {
    const client = await world().client("2026-07-28", ann);
    const admin = await world().client("2026-07-28", boss);
    const blind = new Set<string>();
    const readers = tools.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name);
    const shown = async (name: string): Promise<boolean> => {
      for (const target of targets)
        for (const args of ({ ...onDocuments, ...onState }[name] as Attempts)(target)) {
          const answer = await said(() => client.callTool({ name, arguments: args }));
          if (answer.includes(marker)) return true;
        }
      return false;
    };
    for (const name of readers) if (!(await shown(name))) blind.add(name);
    // Their answers are ids, figures and verdicts.
    expect([...blind].toSorted()).toEqual([
      "erasure_status",
      "job_wait",
      "metrics_query",
      "session_list",
      "verify_citation",
    ]);
    const [first] = targets as [Target];
    expect(await succeed(admin, "erasure_status", { erasure_id: first.xid })).toMatchObject({ state: "done_live" });
    expect(await succeed(client, "verify_citation", onDocuments["verify_citation"]?.(first)[0])).toMatchObject({
      valid: true,
    });
    expect(await succeed(client, "session_list", { agent_id: first.aid })).toMatchObject({
      items: [expect.anything()],
    });
    for (const [kind, uris] of Object.entries(onResources))
      for (const uri of uris(first)) {
        const owner = adminResources.has(kind) ? admin : client;
        expect((await owner.readResource({ uri })).contents, kind).toHaveLength(1);
      }
  });

  describe.each(revisions)("at %s", (revision) => {
    it("R-LISA-72 R-AGT-09 another workspace finds nothing by any id: each answer is that about what never was, to the byte", async () => {
      const before = await snapshot();
      for (const role of ["user", "admin"] as const) {
        const client = await world().client(revision, await world().key(`w-${role}-${revision}`, "eve", { role }));
        expect(await walk(client, { ...onDocuments, ...onState })).toBeGreaterThan(150);
        await walkResources(client, Object.keys(onResources));
        await walk(client, making);
      }
      expect(await snapshot()).toBe(before);
    });

    it("R-LISA-72 another user of the workspace finds nothing of private, personal and others' collections", async () => {
      const before = await snapshot();
      const client = await world().client(revision, await world().key("w1", `bob-${revision}`));
      expect(await walk(client, onDocuments)).toBeGreaterThan(80);
      await walkResources(
        client,
        Object.keys(onResources).filter((kind) => !stateResources.has(kind)),
      );
      expect(await snapshot()).toBe(before);
    });
  });
});

function neverOf(target: Target): Target {
  const ids = Object.entries(target).map(([name, id]) => [name, typeof id === "string" ? ofNever(id) : (id as Json)]);
  return Object.fromEntries(ids);
}

/** A group's collection, a private one in an open repository, and a catalog; beside them one of everything that state holds. */
async function fill(opened: McpWorld, ann: string, boss: string): Promise<Target[]> {
  await opened.ok(boss, "POST", "/v1/repositories", { repository_id: "vault-3141", allowed_groups: ["inner"] });
  await opened.ok(boss, "POST", "/v1/repositories", { repository_id: "commons" });
  const state = { ...(await fillState(opened, ann)), xid: await erased(opened, boss) };
  const personal = (await opened.ok(ann, "GET", "/v1/repositories/me"))["repository_id"] as string;
  const found: Target[] = [];
  for (const [rid, fields] of [
    ["vault-3141", { collection_id: "plans-1618" }],
    ["commons", { collection_id: "diary-4142", private: true }],
    [personal, { collection_id: "catalog-6931" }],
  ] as const) {
    const cid = fields.collection_id;
    await opened.ok(ann, "POST", `/v1/repositories/${encodeURIComponent(rid)}/collections`, {
      ...fields,
      name: `Plans ${marker}`,
    });
    const text = `The plans of the vault are known to ${marker} and to nobody else.`;
    const { document_id } = await opened.indexed(ann, `${rid}/${cid}`, `plans of ${marker}.txt`, text);
    const triple = { s: "a:plans", p: "a:of", o: { type: "literal", value: marker } };
    await opened.ok(ann, "POST", `${pathOf(`${rid}/${cid}`)}/triples`, [triple]);
    const { job_id } = await opened.ok(ann, "POST", `${pathOf(`${rid}/${cid}`)}:reindex`, {});
    const { hits } = await opened.ok(ann, "POST", `${pathOf(`${rid}/${cid}`)}/search`, { query: "plans of the vault" });
    const [hit] = hits as Json[];
    found.push({
      ...state,
      rid,
      cid,
      did: document_id as string,
      jid: job_id as string,
      citation: hit?.["citation"] as Json,
    });
  }
  const client = await opened.client("2026-07-28", ann);
  const selected = metadataOf(await succeed(client, "select_catalog", { catalog_id: "catalog-6931" }));
  const handle = selected["selection_handle"] as string;
  return found.map((target) => ({ ...target, handle }));
}

/** An erasure that has ended. */
async function erased(opened: McpWorld, boss: string): Promise<string> {
  const said = { session_id: "session-gone", message_type: "user", content: "forget me" };
  await opened.ok(boss, "POST", "/v1/agents/agent-gone/memories", said);
  const client = await opened.client("2026-07-28", boss, {
    elicit: () => ({ action: "accept", content: { confirm: true } }),
  });
  const begun = await succeed(client, "erasure_request", { subject: { type: "agent", id: "agent-gone" } });
  const erasure_id = begun["erasure_id"] as string;
  await until(async () => (await succeed(client, "erasure_status", { erasure_id }))["finished_at"] !== null);
  return erasure_id;
}

async function fillState(opened: McpWorld, ann: string) {
  const names = { aid: "agent-5772", sid: "session-1566", tool: "tool-2236", container: "own-1732" };
  const workflow = { type: "saga", name: `W ${marker}`, total_steps: 2 };
  const wid = (await opened.ok(ann, "POST", "/v1/workflows", workflow))["workflow_id"] as string;
  await opened.ok(ann, "POST", `/v1/workflows/${wid}/checkpoints`, { step: 1, state: { secret: marker } });
  await opened.ok(ann, "POST", `/v1/agents/${names.aid}/memories`, {
    session_id: names.sid,
    message_type: "user",
    content: `The launch code is ${marker}.`,
  });
  await opened.ok(ann, "POST", "/v1/metrics:ingest", [
    { agent_id: names.aid, metric_type: "cost", value: 31_415, timestamp: "2025-03-02T10:00:00Z" },
  ]);
  await opened.ok(ann, "POST", "/v1/tool-invocations:ingest", [
    {
      tool_name: names.tool,
      agent_id: names.aid,
      session_id: names.sid,
      workflow_id: wid,
      status: "success",
      duration_ms: 1,
      result: marker,
    },
  ]);
  await opened.ok(ann, "PUT", `/v1/containers/${names.container}`, { partition_key: "/owner" });
  await opened.ok(ann, "POST", `/v1/containers/${names.container}/items`, { id: "i", owner: "o", text: marker });
  return { ...names, wid, handle: "" };
}
