/** Erasures, receipts, legal holds and subject exports on the command line: on the stores of a folder, and at a server. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Erasure, LegalHold, SubjectExport } from "@pinakes/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../config.ts";
import { createApp } from "../../http/app.ts";
import { serve } from "../../http/serve.ts";
import { open, openStores, type Pinakes } from "../../open.ts";
import { UsageError, type Group } from "../terminal/command.ts";
import { cliFolder, failure } from "../terminal/test-terminal.ts";
import { erasures } from "./erasures.ts";
import { holds } from "./holds.ts";
import { receipts } from "./receipts.ts";
import { subjects } from "./subjects.ts";

interface Way {
  /** Options that every command gets. */
  readonly options: readonly string[];
  remember(user: string, content: string): Promise<void>;
  said(): Promise<readonly string[]>;
}

const { base, env, call } = cliFolder("erasures");
const rootToken = "root-token-of-these-tests-0123456789";
const stop = new AsyncDisposableStack();
afterAll(() => stop.disposeAsync());

function over(pinakes: Pinakes): Pick<Way, "remember" | "said"> {
  const who = pinakes.as({ tenant: "default", userId: "root", role: "admin" });
  return {
    remember: async (user, content) => {
      const message = { agent_id: "helper", session_id: `s-${user}`, message_type: "user", content } as const;
      await pinakes.state.memories.append(who, { ...message, metadata: { user_id: user } });
    },
    said: async () =>
      (await pinakes.state.memories.list(who, "helper", { limit: 100 })).items.map(({ content }) => content),
  };
}

/** Each command opens the stores anew, and waits until other processes would have seen the fence. */
async function onStores(): Promise<Way> {
  const opened = async <T>(work: (way: Pick<Way, "remember" | "said">) => Promise<T>): Promise<T> => {
    await using pinakes = await openStores(readConfig(env).stores, { background: false });
    return work(over(pinakes));
  };
  return {
    options: [],
    remember: (user, content) => opened((way) => way.remember(user, content)),
    said: () => opened((way) => way.said()),
  };
}

async function atServer(): Promise<Way> {
  const dir = join(base, "server");
  const pinakes = stop.use(await open({ dir, rootToken, erasureFenceMs: 0, subjectExportPartBytes: 600 }));
  const server = await serve(await createApp(pinakes, { checkAnswers: true }), { host: "127.0.0.1", port: 0 });
  stop.defer(() => server.close());
  return { options: ["--url", server.url, "--key", rootToken], ...over(pinakes) };
}

describe.each([
  ["the stores of the folder", onStores],
  ["a server", atServer],
])("on %s", (name, openWay) => {
  let way: Way;
  beforeAll(async () => {
    way = await openWay();
  });
  const run = (group: Group, args: readonly string[], terminal = {}) =>
    call(group, [...args, ...way.options], terminal);
  const json = async <T>(group: Group, ...args: readonly string[]): Promise<T> =>
    JSON.parse((await run(group, [...args, "--json"])).out) as T;

  it("R-AGT-65 R-AGT-67 erases a user after a question, and tells what became of each store", async () => {
    await way.remember("erin", "of erin");
    await way.remember("otto", "of otto");
    const counted = await json<Erasure>(erasures, "request", "--user", "erin", "--dry-run");
    expect(counted).toMatchObject({ state: "counted", dry_run: true });

    const asked: string[] = [];
    const answering = (answer: string) => ({ ask: async (text: string) => (asked.push(text), answer) });
    const unasked = await failure(run(erasures, ["request", "--user", "erin"]));
    expect(unasked.message).toMatch(/^1 entry in 1 store names the user erin: .* Confirm with --yes\.$/);
    for (const answer of ["yes", "otto"])
      expect((await failure(run(erasures, ["request", "--user", "erin"], answering(answer)))).message).toBe(
        "nothing was changed.",
      );
    expect(asked[0]).toContain("Type erin to continue");
    expect(await way.said()).toEqual(expect.arrayContaining(["of erin", "of otto"]));

    const done = await run(erasures, ["request", "--user", "erin"], answering("erin"));
    expect(done.code).toBe(0);
    expect(done.out).toMatch(/state +done_live/);
    expect(done.out).toMatch(/agent-memories +1 +1 +0 +0 +0 +0/);
    expect(await way.said()).toEqual(["of otto"]);

    const page = await json<{ items: Erasure[] }>(erasures, "list", "--limit", "100");
    const [erasure] = page.items.filter(({ dry_run }) => !dry_run) as [Erasure];
    expect((await run(erasures, ["list"])).out).toContain(erasure.erasure_id);
    expect(await json(erasures, "show", erasure.erasure_id)).toEqual(erasure);
    expect(await json(erasures, "wait", erasure.erasure_id)).toEqual(erasure);
    const gone = await run(erasures, ["verify", erasure.erasure_id, "--user", "erin"]);
    expect(gone).toMatchObject({ code: 0, out: "GONE: nothing names the subject.\nThe receipt is valid.\n" });
    await way.remember("erin", "again");
    const back = await run(erasures, ["verify", erasure.erasure_id, "--user", "erin"]);
    expect(back).toMatchObject({ code: 1, out: expect.stringContaining("NOT GONE: 1 left: agent-memories 1.") });
    expect((await failure(run(erasures, ["verify", erasure.erasure_id, "--user", "otto"]))).message).toContain(
      "subject",
    );
  });

  it("refuses no subject, two subjects, wildcards, and subjects that nothing names", async () => {
    for (const args of [[], ["--user", "a", "--agent", "b"], ["--user", "a", "--everything"], ["--documents", "a"]])
      expect(await failure(run(erasures, ["request", ...args, "--yes"])), args.join(" ")).toBeInstanceOf(UsageError);
    expect((await failure(run(erasures, ["request", "--user", "*", "--yes"]))).code).toBe("INVALID");
    expect((await failure(run(erasures, ["request", "--user", "nobody", "--yes"]))).code).toBe("NOT_FOUND");
    expect((await failure(run(erasures, ["request", "--agent", "nobody", "--dry-run"]))).code).toBe("NOT_FOUND");
    const documents = ["--documents", "a,b", "--collection", "kb/none"];
    expect((await failure(run(erasures, ["request", ...documents, "--yes"]))).code).toBe("NOT_FOUND");
    expect((await failure(run(erasures, ["show", "nothing"]))).code).toBe("NOT_FOUND");
  });

  it("R-AGT-69 holds keep a user's data until they are released, which has to be confirmed", async () => {
    await way.remember("hanna", "of hanna");
    const created = await run(holds, ["create", "--user", "hanna", "--reason", "case 7"]);
    expect(created.out).toMatch(/on +the user hanna/);
    const [hold] = (await json<{ items: LegalHold[] }>(holds, "list")).items as [LegalHold];
    expect(hold).toMatchObject({ reason: "case 7", matched: 1, scope: { type: "user", id: "hanna" } });
    const held = await run(erasures, ["request", "--user", "hanna", "--yes"]);
    expect(held).toMatchObject({ code: 1, out: expect.stringMatching(/state +held/) });
    expect(held.out).toContain(hold.hold_id);
    expect(await way.said()).toContain("of hanna");

    expect((await failure(run(holds, ["release", hold.hold_id]))).message).toContain("--yes");
    expect((await failure(run(holds, ["release", hold.hold_id], { ask: async () => "" }))).message).toContain(
      "nothing",
    );
    expect((await json<{ items: unknown[] }>(holds, "list")).items).toHaveLength(1);
    const released = await run(holds, ["release", hold.hold_id, "--yes"]);
    expect(released.out).toMatch(/^The hold \S+ is released\.\nThe erasure \S+ is done_live\.\n$/);
    expect((await run(holds, ["list"])).out).toBe("There are no legal holds.\n");
    expect(await way.said()).not.toContain("of hanna");
  });

  it("refuses holds without a reason, with no scope or two, and on what is not there", async () => {
    const wrong = [
      ["--user", "otto"],
      ["--reason", "r"],
      ["--user", "otto", "--agent", "helper", "--reason", "r"],
      ["--container", "agent-memories", "--reason", "r"],
      ["--container", "agent-memories", "--filter", "[]", "--reason", "r"],
      ["--collection", "kb", "--reason", "r"],
    ];
    for (const args of wrong)
      expect(await failure(run(holds, ["create", ...args])), args.join(" ")).toBeInstanceOf(UsageError);
    expect((await failure(run(holds, ["create", "--user", "nobody", "--reason", "r"]))).code).toBe("NOT_FOUND");
    const queried = ["--container", "agent-memories", "--filter", '{"agent_id":"helper"}', "--reason", "r"];
    const hold = await json<LegalHold>(holds, "create", ...queried);
    expect(hold.scope).toMatchObject({ type: "query", container: "agent-memories" });
    await run(holds, ["release", hold.hold_id, "--yes"]);
  });

  it("R-AGT-71 writes everything held about a user, downloads it, continues a download, and deletes it", async () => {
    const folder = join(base, name.replaceAll(" ", "-"));
    const got = await run(subjects, ["export", "--user", "otto", "--out", folder]);
    expect(got.code).toBe(0);
    const [made] = (await json<{ items: SubjectExport[] }>(subjects, "list")).items as [SubjectExport];
    expect(made).toMatchObject({ state: "ready", subject: { type: "user", id: "otto" } });
    const names = made.parts.map(({ part }) => `${made.export_id}-${part}.zip`);
    expect(readdirSync(folder).toSorted()).toEqual(names.toSorted());
    const hashOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
    const hashes = () => made.parts.map(({ part }) => hashOf(join(folder, `${made.export_id}-${part}.zip`)));
    expect(hashes()).toEqual(made.parts.map(({ sha256 }) => sha256));

    // A download that stopped in the middle, and an archive that changed on the disk.
    const first = join(folder, names[0] as string);
    renameSync(first, `${first}.part`);
    truncateSync(`${first}.part`, 100);
    expect((await run(subjects, ["download", made.export_id, "--out", folder])).out).toContain(first);
    expect(hashes()).toEqual(made.parts.map(({ sha256 }) => sha256));
    renameSync(first, `${first}.part`);
    truncateSync(`${first}.part`, 100);
    writeFileSync(`${first}.part`, "x".repeat(100));
    const broken = await failure(run(subjects, ["download", made.export_id, "--out", folder]));
    expect(broken).toMatchObject({ code: "CORRUPT", message: expect.stringContaining("download it again") });
    expect(readdirSync(folder)).not.toContain(`${names[0]}.part`);
    await run(subjects, ["download", made.export_id, "--out", folder]);
    expect(hashes()).toEqual(made.parts.map(({ sha256 }) => sha256));

    expect((await failure(run(subjects, ["delete", made.export_id]))).message).toContain("--yes");
    await run(subjects, ["delete", made.export_id, "--yes"]);
    expect((await failure(run(subjects, ["download", made.export_id]))).code).toBe("NOT_FOUND");
    expect((await run(subjects, ["list"])).out).toBe("There are no exports of subjects.\n");
    expect((await failure(run(subjects, ["export", "--user", "nobody"]))).code).toBe("NOT_FOUND");
  });

  it("R-AGT-68 exports receipts, which verify without stores and with the public key alone", async () => {
    const folder = join(base, `${name.replaceAll(" ", "-")}-receipts`);
    mkdirSync(folder);
    const at = (file: string) => join(folder, file);
    expect((await run(receipts, ["export", "--out", at("receipts.txt")])).code).toBe(0);
    writeFileSync(at("key.pem"), (await run(receipts, ["key"])).out);
    const text = readFileSync(at("receipts.txt"), "utf8");
    expect((await run(receipts, ["export"])).out).toBe(text);
    const lines = text.trimEnd().split("\n");
    // Of erin's erasure, of hanna's which was held, and of hanna's after the release.
    expect(lines).toHaveLength(3);
    const nowhere = { env: { PINAKES_DATA: at("no-such-folder") } };
    const check = (file: string, ...more: readonly string[]) =>
      call(receipts, ["verify", at(file), "--public-key", at("key.pem"), ...more], nowhere);
    const good = await check("receipts.txt");
    expect(good).toMatchObject({ code: 0, out: expect.stringMatching(/^VALID: 3 receipts/) });
    const { head } = JSON.parse((await check("receipts.txt", "--json")).out) as { head: string };

    const wrong = async (content: string, ...more: readonly string[]): Promise<string> => {
      writeFileSync(at("wrong.txt"), content);
      const { code, out } = await check("wrong.txt", ...more);
      expect(code, out).toBe(1);
      expect(out).toMatch(/^NOT VALID\n/);
      return out;
    };
    const [one, two, three] = lines as [string, string, string];
    expect(await wrong([one, three].join("\n"))).toMatch(/line 2 .*sequence 3 follows 1: a receipt is missing/);
    expect(await wrong([two, three].join("\n"))).toMatch(/line 1 .*begins with sequence 2/);
    writeFileSync(at("part.txt"), [two, three].join("\n"));
    expect((await check("part.txt", "--part")).code).toBe(0);
    expect(await wrong([one, two].join("\n"), "--head", head)).toMatch(/at the end: no receipt has the hash/);
    expect(await wrong([two, one, three].join("\n"), "--part")).toMatch(/line 2 .*out of its place/);
    for (let i = 0; i < text.length; i += 97) {
      if (text[i] === "\n") continue;
      const flipped = String.fromCharCode(text.charCodeAt(i) ^ 1);
      expect(await wrong(text.slice(0, i) + flipped + text.slice(i + 1)), `character ${i}`).toContain("line ");
    }
    expect((await failure(check("empty.txt"))).message).toContain("cannot be read");
    writeFileSync(at("empty.txt"), "\n");
    expect((await failure(check("empty.txt"))).message).toContain("has no receipts");
    expect(await failure(call(receipts, ["verify", at("receipts.txt")]))).toBeInstanceOf(UsageError);
    const noKey = call(receipts, ["verify", at("receipts.txt"), "--public-key", at("receipts.txt")]);
    expect((await failure(noKey)).message).toContain("must be an Ed25519 key in PEM");
  });
});

describe("receipts of another instance", () => {
  it("R-AGT-68 do not verify with this one's key", async () => {
    const [folder, server] = ["the-stores-of-the-folder-receipts", "a-server-receipts"].map((name) => join(base, name));
    const args = ["verify", join(folder as string, "receipts.txt"), "--public-key", join(server as string, "key.pem")];
    const { code, out } = await call(receipts, args);
    expect([code, out]).toEqual([1, expect.stringContaining("a receipt of another instance")]);
  });
});

describe("help", () => {
  it("has a summary, options and an example for each command", async () => {
    for (const group of [erasures, receipts, holds, subjects]) {
      if (!("commands" in group)) throw new Error("a group of commands");
      for (const [name, { examples }] of Object.entries(group.commands)) {
        const { out } = await call(group, [name, "--help"]);
        expect(examples.length, name).toBeGreaterThan(0);
        expect(out).toContain(examples[0]);
      }
    }
  });
});
