import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { systemScope } from "../domain/scope.ts";
import { openMemoryItems } from "../drivers/memory/index.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { failure } from "../testing/object-store/fixture.ts";
import { createMasterKeyFile, keysTenant, MasterKeys, WorkspaceKeys, workspaceKeysContainer } from "./index.ts";

const folder = temporaryFolder("keys");
const scope = systemScope("test", () => {}).forTenant(keysTenant);
let files = 0;
const newFile = () => join(folder, `${(files += 1)}.key`);

async function masterFile(...keys: readonly Buffer[]): Promise<string> {
  const file = newFile();
  await writeFile(file, `# current first\n${keys.map((key) => key.toString("base64")).join("\n")}\n\n`);
  return file;
}

interface Process {
  readonly keys: WorkspaceKeys;
  readonly clock: { value: number; now(): number };
}
async function started(items: ItemStore, file: string, hasObjects = false): Promise<Process> {
  const clock = { value: 1_000_000, now: () => clock.value };
  const keys = new WorkspaceKeys(await MasterKeys.read(file), clock);
  await keys.open({ items, scope, hasObjects });
  return { keys, clock };
}

describe("workspace keys", () => {
  it("two processes that create the first key of a workspace at once use the same one", async () => {
    const items = await openMemoryItems();
    const file = await masterFile(randomBytes(32));
    const [one, two] = [await started(items, file), await started(items, file)];
    const [a, b] = await Promise.all([one.keys.current("acme"), two.keys.current("acme")]);
    expect(a.key).toEqual(b.key);
    expect((await one.keys.current("other")).key).not.toEqual(a.key);
    expect(await one.keys.list()).toMatchObject([
      { owner: "acme", current: true },
      { owner: "other", current: true },
    ]);
  });

  it("keys are stored wrapped, and a wrapped key that was changed or moved to another workspace does not open", async () => {
    const items = await openMemoryItems();
    const file = await masterFile(randomBytes(32));
    const { keys } = await started(items, file);
    const { id, key } = await keys.current("acme");
    const name = `acme:${Buffer.from(id).toString("hex")}`;
    const read = async (of: string) => {
      const item = await items.read(scope, workspaceKeysContainer.name, { partition: ["key"], id: of });
      return item?.document as Record<string, string>;
    };
    const document = await read(name);
    expect(Buffer.from(document["wrapped"] as string, "base64").includes(Buffer.from(key))).toBe(false);
    const moved = { ...document, id: name.replace("acme", "other"), owner: "other" };
    await items.write(scope, workspaceKeysContainer.name, ["key"], { op: "create", document: moved });
    await failure(keys.byId("other", id), "CORRUPT");
  });

  it("rotation: new objects use the new key, the old one stays readable; another process follows within 30 seconds", async () => {
    const items = await openMemoryItems();
    const file = await masterFile(randomBytes(32));
    const [one, two] = [await started(items, file), await started(items, file)];
    const before = await one.keys.current("acme");
    await two.keys.current("acme");
    const { key_id } = await one.keys.rotate("acme");
    const after = await one.keys.current("acme");
    expect(Buffer.from(after.id).toString("hex")).toBe(key_id);
    expect((await one.keys.byId("acme", before.id)).key).toEqual(before.key);
    expect((await two.keys.current("acme")).id).toEqual(before.id);
    two.clock.value += 30_000;
    expect((await two.keys.current("acme")).id).toEqual(after.id);
    expect(await one.keys.list("acme")).toHaveLength(2);
  });

  it("R-AGT-64 destroyed keys are gone here at once and in other processes after 30 seconds; other workspaces keep theirs", async () => {
    const items = await openMemoryItems();
    const file = await masterFile(randomBytes(32));
    const [one, two] = [await started(items, file), await started(items, file)];
    const { id } = await one.keys.current("acme");
    const kept = await one.keys.current("acme2");
    await two.keys.byId("acme", id);
    expect(await one.keys.destroy("acme")).toEqual({ destroyed: 1 });
    await failure(one.keys.byId("acme", id), "NOT_FOUND");
    expect((await two.keys.byId("acme", id)).id).toEqual(id);
    two.clock.value += 30_000;
    await failure(two.keys.byId("acme", id), "NOT_FOUND");
    expect((await one.keys.byId("acme2", kept.id)).key).toEqual(kept.key);
    expect((await one.keys.current("acme")).id).not.toEqual(id);
    expect(await one.keys.destroy("nothing")).toEqual({ destroyed: 0 });
  });

  it("master key: a new one on the first line wraps all keys again, also after a crash in the middle; then the old line can go", async () => {
    const items = await openMemoryItems();
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const before = await started(items, await masterFile(old));
    const owners = ["a", "b", "c"];
    const known = await Promise.all(owners.map((owner) => before.keys.current(owner)));
    let writes = 0;
    const crashing: ItemStore = Object.assign(Object.create(items) as ItemStore, {
      write: (...given: Parameters<ItemStore["write"]>) => {
        writes += 1;
        return writes === 2 ? Promise.reject(new Error("crash")) : items.write(...given);
      },
      read: items.read.bind(items),
      query: items.query.bind(items),
      openContainer: items.openContainer.bind(items),
    });
    const both = await masterFile(next, old);
    await expect(started(crashing, both)).rejects.toThrow("crash");
    const masters = async () => new Set((await before.keys.list()).map(({ master_id }) => master_id));
    expect((await masters()).size).toBe(2);
    await started(items, both);
    expect([...(await masters())]).toEqual([(await MasterKeys.read(both)).currentId]);
    const alone = await started(items, await masterFile(next), true);
    for (const [i, owner] of owners.entries())
      expect((await alone.keys.byId(owner, (known[i] as { id: Uint8Array }).id)).key).toEqual(known[i]?.key);
    await expect(started(items, await masterFile(old), true)).rejects.toThrow(
      /master key [0-9a-f]{16}, which is not in/,
    );
  });

  it("a store with plain objects is refused; a new one becomes encrypted, and stays so", async () => {
    const items = await openMemoryItems();
    const file = await masterFile(randomBytes(32));
    await expect(started(items, file, true)).rejects.toThrow("pinakes migrate engine");
    await started(items, file, false);
    await started(items, file, true);
  });
});

describe("master key files", () => {
  it("a created file has one key, is readable by its owner only, and is never replaced", async () => {
    const file = newFile();
    const id = await createMasterKeyFile(file);
    expect((await MasterKeys.read(file)).ids).toEqual([id]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, "utf8");
    await failure(createMasterKeyFile(file), "INVALID");
    expect(await readFile(file, "utf8")).toBe(text);
  });

  it.each([
    ["no key", "# nothing\n"],
    ["a short key", `${randomBytes(31).toString("base64")}\n`],
    ["no base64", `${"x".repeat(43)}!\n`],
    ["11 keys", `${Array.from({ length: 11 }, () => randomBytes(32).toString("base64")).join("\n")}\n`],
  ])("%s is refused, and the message has no key", async (_, text) => {
    const file = newFile();
    await writeFile(file, text);
    const error = await failure(MasterKeys.read(file), "INVALID");
    for (const line of text.split("\n").filter((one) => one.length > 20)) expect(error.message).not.toContain(line);
  });

  it("10 keys are accepted; a missing file says how to create one", async () => {
    const file = await masterFile(...Array.from({ length: 10 }, () => randomBytes(32)));
    expect((await MasterKeys.read(file)).ids).toHaveLength(10);
    await expect(MasterKeys.read(newFile())).rejects.toThrow("pinakes encryption new-key");
  });
});
