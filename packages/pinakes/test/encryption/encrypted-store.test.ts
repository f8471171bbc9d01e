/** A whole Pinakes whose objects are encrypted: on a folder and in a bucket, moved from a plain store, and with destroyed keys. */
import { randomBytes } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseStores } from "../../src/config-stores.ts";
import { moveEngine, open } from "../../src/open.ts";
import { failure } from "../../src/testing/object-store/fixture.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import { newPlace, texts, uploaded } from "../knowledge/support/test-pinakes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const base = temporaryFolder("encrypted-store");
let files = 0;
async function masterKey(): Promise<string> {
  const file = join(base, `${(files += 1)}.key`);
  await writeFile(file, `${randomBytes(32).toString("base64")}\n`);
  return file;
}

const canary = "The zanzibarite deposit lies under the old observatory.";

async function filesBelow(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Buffer.concat(await Promise.all(found.map((file) => readFile(file))));
}

describe.each(knowledgeEngines())("an encrypted store on %s", (_, openOn) => {
  it("documents are ingested, searched and read; a destroyed key makes them unreadable, and no other workspace's", async () => {
    await using test = await openOn({ masterKeyFile: await masterKey() });
    const place = await newPlace(test);
    const document = await uploaded(place, "a.txt", canary);
    expect(document).toMatchObject({ status: "indexed", error: null });
    expect(await texts(place, "zanzibarite deposit")).toEqual([canary]);
    const { pinakes } = test;
    const other = pinakes.as({ tenant: "zeta", userId: "root", role: "admin" });
    await pinakes.objects.put(other.scope, "kept", Buffer.from("kept"));
    expect(new Set((await pinakes.keys?.list())?.map(({ owner }) => owner))).toEqual(new Set(["acme", "zeta"]));
    await pinakes.keys?.destroy("acme");
    const [{ key } = { key: "" }] = (await pinakes.objects.list(place.caller.scope, "knowledge/")).keys;
    await failure(pinakes.objects.get(place.caller.scope, key), "NOT_FOUND");
    expect(Buffer.from((await pinakes.objects.get(other.scope, "kept")) as Uint8Array).toString()).toBe("kept");
  });
});

describe("an encrypted store in a folder", () => {
  const stores = (name: string, masterKeyFile?: string) => ({
    items: `sqlite:${join(base, name)}`,
    objects: `file:${join(base, name, "objects")}`,
    dir: join(base, name),
    database: "pinakes",
    ...(masterKeyFile === undefined ? {} : { masterKeyFile }),
  });
  const names = { dir: "dir", database: "database", items: "items", objects: "objects", queue: "queue" };

  it("has no text of documents in its files; a plain store moves into it, and back, with equal content", async () => {
    const file = await masterKey();
    const document = async (place: ReturnType<typeof stores>) => {
      await using pinakes = await open(place);
      const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
      const bytes = await pinakes.objects.get(admin.scope, "some/text");
      return Buffer.from(bytes ?? []).toString();
    };
    {
      await using pinakes = await open(stores("plain"));
      const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
      await pinakes.objects.put(admin.scope, "some/text", Buffer.from(canary));
    }
    expect((await filesBelow(join(base, "plain", "objects"))).includes(canary)).toBe(true);
    const move = (from: ReturnType<typeof stores>, to: ReturnType<typeof stores>) =>
      moveEngine(parseStores(from, names), parseStores(to, names));
    expect(await move(stores("plain"), stores("secret", file))).toMatchObject({ equal: true });
    expect((await filesBelow(join(base, "secret", "objects"))).includes(canary)).toBe(false);
    expect(await document(stores("secret", file))).toBe(canary);
    expect(await move(stores("secret", file), stores("back"))).toMatchObject({ equal: true });
    expect(await document(stores("back"))).toBe(canary);
  });

  it("is refused without its master key, with another one, and with drop boxes; a plain store is refused with one", async () => {
    const file = await masterKey();
    await (await open(stores("a", file))).close();
    await expect(open(stores("a"))).rejects.toThrow("set PINAKES_MASTER_KEY_FILE");
    await (await open(stores("b"))).close();
    await expect(open(stores("b", file))).rejects.toThrow("pinakes migrate engine");
    {
      await using pinakes = await open(stores("a", file));
      await pinakes.objects.put(pinakes.as({ tenant: "acme", userId: "u" }).scope, "x", Buffer.from("x"));
    }
    await expect(open(stores("a", await masterKey()))).rejects.toThrow("which is not in");
    await expect(open({ ...stores("c", file), dropBoxes: [{ tenant: "acme" }] })).rejects.toThrow("Drop boxes");
    await expect(open({ items: "memory:", objects: stores("d").objects, masterKeyFile: file })).rejects.toThrow(
      "Items in memory",
    );
  });
});
