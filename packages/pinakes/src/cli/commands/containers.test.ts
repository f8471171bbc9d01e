import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChangesPage } from "@pinakes/client";
import { beforeAll, describe, expect, it } from "vitest";
import { open } from "../../open.ts";
import { UsageError } from "../terminal/command.ts";
import { containers } from "./containers.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { cliFolder, failure } from "../terminal/test-terminal.ts";

// Many openings of the stores in one test: a busy machine takes its time.
const { base, env, ...folder } = cliFolder("cli-containers");
const call = (args: readonly string[], terminal: Partial<Terminal> = {}) => folder.call(containers, args, terminal);
const json = <T = unknown>(...args: string[]): Promise<T> => folder.json<T>(containers, ...args);
const refused = (...args: string[]) => failure(call(args));

beforeAll(async () => {
  await writeFile(
    join(base, "policy.json"),
    JSON.stringify({ includedPaths: [{ path: "/status/?" }], excludedPaths: [{ path: "/*" }] }),
  );
  await writeFile(join(base, "bad.json"), "{bad");
  await writeFile(join(base, "list.json"), "[]");
});

describe("pinakes containers", () => {
  it("makes one, with a time to live and a policy; a mistake makes none", async () => {
    expect(
      await json("create", "tickets", "--partition", "/customer", "--ttl", "86400", "--policy", "policy.json"),
    ).toMatchObject({
      name: "tickets",
      kind: "own",
      partition_key: "/customer",
      default_ttl: 86_400,
      index_states: [{ name: "all" }, { name: "by_status", state: "ready" }],
    });
    for (const more of [
      [],
      ["--partition", ""],
      ["--partition", "/a", "--ttl", "0"],
      ["--partition", "/a", "--ttl=-2"],
      ["--partition", "/a", "--ttl", "soon"],
    ])
      expect(await refused("create", "none", ...more)).toBeInstanceOf(UsageError);
    expect((await refused("create", "none", "--partition", "/a", "--ttl", "-1")).message).toContain("--ttl=-…");
    expect((await refused("create", "none", "--partition", "/a,/b,/c,/d")).message).toContain("1 to 3 paths");
    expect((await refused("create", "none", "--partition", "/a", "--policy", "missing.json")).message).toContain(
      "cannot be read",
    );
    expect((await refused("create", "none", "--partition", "/a", "--policy", "bad.json")).message).toContain(
      "bad.json: is not JSON",
    );
    expect((await refused("create", "none", "--partition", "/a", "--policy", "list.json")).message).toContain(
      "must be an object",
    );
    expect((await refused("create", "No", "--partition", "/a")).message).toContain("lower-case");
    expect((await refused("show", "none")).code).toBe("NOT_FOUND");
  });

  it("changes one that is there only when told to", async () => {
    await json("create", "notes", "--partition", "/user,/topic", "--ttl=-1");
    expect(await refused("create", "notes", "--partition", "/user,/topic", "--strict")).toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("--replace") as string,
    });
    expect(await json("create", "notes", "--partition", "/user,/topic", "--strict", "--replace")).toMatchObject({
      strict: true,
      default_ttl: null,
    });
    expect((await refused("create", "agent-metrics", "--partition", "/a", "--replace")).code).toBe("CONFLICT");
  });

  it("lists the system's and one's own, of this workspace only, and shows one with its indexes", async () => {
    const { items } = await json<{ items: { name: string; kind: string }[] }>("list");
    expect(items.filter(({ kind }) => kind === "own").map(({ name }) => name)).toEqual(["notes", "tickets"]);
    const { out } = await call(["list"], { columns: 80 });
    expect(out).toMatch(/\ntool-invocations +system +\/tool_date +after 90 days +append-only\n/);
    expect(out).toMatch(/\ntickets +own +\/customer +after 1 day\n/);
    expect(out.split("\n").every((line) => line.length <= 80)).toBe(true);
    expect((await call(["list", "--workspace", "other"])).out).not.toContain("tickets");
    expect((await call(["show", "tickets"])).out).toMatch(/indexed +\/status\/\?\n[^]*\nby_status +status +ready\n/);
    expect((await refused("show", "tickets", "--workspace", "other")).code).toBe("NOT_FOUND");
    expect(await refused("list", "tickets")).toBeInstanceOf(UsageError);
  });

  it("tells what changed, and goes on from a cursor", async () => {
    await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
    const { containers: feature } = pinakes.state.as(pinakes.as({ tenant: "default", userId: "ada", role: "user" }));
    for (const id of ["t1", "t2", "t3"]) await feature.create("tickets", { id, customer: "acme" });
    await feature.deleteItem("tickets", "acme", "t2");
    expect((await call(["changes", "tickets"])).out).toMatch(
      /^time +change +id +partition\n.* put +t1 +acme\n.* put +t3 +acme\n\nLater changes: pinakes containers changes tickets --cursor /,
    );
    const all = await json<ChangesPage>("changes", "tickets", "--mode", "all", "--limit", "10000");
    expect(all.items.at(-1)).toMatchObject({ kind: "delete", id: "t2" });
    expect(all.more).toBe(false);
    const first = await json<ChangesPage>("changes", "tickets", "--limit", "1");
    expect(first).toMatchObject({ items: [{ id: "t1" }], more: true });
    expect(await json("changes", "tickets", `--cursor=${first.cursor}`)).toMatchObject({
      items: [{ id: "t3" }],
      more: false,
    });
    expect((await call(["changes", "tickets", "--from", "now"])).out).toMatch(/^Nothing changed\.\n/);
    expect((await refused("changes", "tickets", "--cursor", "zzz")).code).toBe("INVALID");
    expect((await refused("changes", "agent-metrics")).code).toBe("NOT_SUPPORTED");
    for (const wrong of [
      ["--from", "now", "--cursor", "x"],
      ["--mode", "some"],
      ["--from", "2030"],
      ["--limit", "10001"],
    ])
      expect(await refused("changes", "tickets", ...wrong)).toBeInstanceOf(UsageError);
  });

  it("deletes one of one's own, only when told so twice", async () => {
    expect((await refused("delete", "tickets")).message).toContain("--yes");
    expect((await failure(call(["delete", "tickets"], { ask: async () => "y" }))).message).toContain(
      "nothing was changed",
    );
    expect(await json("delete", "tickets", "--confirm")).toEqual({ deleted: "tickets" });
    expect((await refused("delete", "tickets", "--confirm")).code).toBe("NOT_FOUND");
    expect((await refused("delete", "agent-metrics", "--confirm")).code).toBe("CONFLICT");
  });
});
