/** Lists: byte order, prefixes, pages, and concurrent writes. Deletes. */
import { expect } from "vitest";
import { limits } from "../../domain/limits.ts";
import { compareUtf8 } from "../../domain/json.ts";
import type { ListOptions } from "../../ports/object-store.ts";
import { failure, type ObjectFixture } from "./fixture.ts";

/** Names whose byte order differs from that of folders, UTF-16 or file systems. */
const tricky = [
  "a",
  "a/b",
  "a/b/c",
  "a-b",
  "a.b",
  "a0",
  "A",
  "A/b",
  "aa",
  "b",
  "%41",
  "~",
  "é",
  "é/x",
  "\u{ffff}",
  "\u{1f600}",
  " ",
  "a b",
  ".hidden",
  "-",
  "con",
  "nul.txt",
  "x.o",
  "x.d/y.c",
];

export function listing(fixture: ObjectFixture): void {
  order(fixture);
  pages(fixture);
  deletes(fixture);
}

function order(fixture: ObjectFixture): void {
  fixture.test(
    "keys come in the byte order of their UTF-8 form, also where folders, case and surrogates suggest another",
    async () => {
      const folder = fixture.folder();
      for (const name of tricky) await fixture.put(folder + name, name);
      const expected = tricky.map((name) => folder + name).toSorted(compareUtf8);
      expect(await fixture.keys(folder)).toEqual(expected);
      for (const name of tricky) expect(await fixture.text(folder + name)).toBe(name);
    },
  );

  fixture.test("long segments: around every multiple of 72 bytes, in order, and each is its own object", async () => {
    const folder = fixture.folder();
    const base = "x".repeat(71);
    const names = [
      "",
      "x",
      "x/",
      "x/y",
      "xx",
      "x-",
      "xé",
      "x".repeat(73),
      "x".repeat(74),
      "é".repeat(80),
      "x".repeat(300),
      `${"x".repeat(300)}/z`,
    ]
      .map((tail) => base + tail)
      .filter((name) => !name.endsWith("/"));
    for (const name of names) await fixture.put(folder + name, name);
    expect(await fixture.keys(folder)).toEqual(names.map((name) => folder + name).toSorted(compareUtf8));
    for (const name of names) expect(await fixture.text(folder + name)).toBe(name);
    await fixture.store.delete(
      fixture.scope,
      names.map((name) => folder + name),
    );
    expect(await fixture.keys(folder)).toEqual([]);
  });

  fixture.test("a prefix is text: it may end inside a segment, and matches case and bytes exactly", async () => {
    const folder = fixture.folder();
    for (const name of ["ab", "abc/d", "abd", "ac", "Ab"]) await fixture.put(folder + name, name);
    const under = async (prefix: string) =>
      (await fixture.keys(folder + prefix)).map((key) => key.slice(folder.length));
    expect(await under("ab")).toEqual(["ab", "abc/d", "abd"]);
    expect(await under("abc")).toEqual(["abc/d"]);
    expect(await under("abc/")).toEqual(["abc/d"]);
    expect(await under("ab/")).toEqual([]);
    expect(await under("A")).toEqual(["Ab"]);
    expect(await under("zz")).toEqual([]);
    expect(await under("")).toEqual(["Ab", "ab", "abc/d", "abd", "ac"]);
  });

  fixture.test("entries carry size and time", async () => {
    const folder = fixture.folder();
    await fixture.put(`${folder}five`, "12345");
    const { keys } = await fixture.store.list(fixture.scope, folder);
    const head = await fixture.store.head(fixture.scope, `${folder}five`);
    expect(keys).toEqual([{ key: `${folder}five`, bytes: 5, modifiedAt: head?.modifiedAt }]);
  });
}

function pages(fixture: ObjectFixture): void {
  fixture.test("pages of every size give each key once; the last page has no next", async () => {
    const folder = fixture.folder();
    const names = Array.from({ length: 12 }, (_, i) => `${folder}${i % 3}/${i}`).toSorted(compareUtf8);
    for (const name of names) await fixture.put(name, name);
    for (const limit of [1, 2, 5, 11, 12, 13]) expect(await fixture.keys(folder, limit)).toEqual(names);
    expect((await fixture.store.list(fixture.scope, folder, { limit: 12 })).next).toBeUndefined();
    expect((await fixture.store.list(fixture.scope, folder, { limit: 11 })).next).toBe(names[10]);
  });

  fixture.test("after: any text, also one that is no key, before the prefix or beyond it", async () => {
    const folder = fixture.folder();
    for (const name of ["a", "b/1", "b/2", "c"]) await fixture.put(folder + name, name);
    const following = async (after: string) =>
      (await fixture.store.list(fixture.scope, folder, { after })).keys.map(({ key }) => key.slice(folder.length));
    expect(await following(folder)).toEqual(["a", "b/1", "b/2", "c"]);
    expect(await following(`${folder}a`)).toEqual(["b/1", "b/2", "c"]);
    expect(await following(`${folder}b`)).toEqual(["b/1", "b/2", "c"]);
    expect(await following(`${folder}b/`)).toEqual(["b/1", "b/2", "c"]);
    expect(await following(`${folder}b/1`)).toEqual(["b/2", "c"]);
    expect(await following(`${folder}b/3`)).toEqual(["c"]);
    expect(await following("")).toEqual(["a", "b/1", "b/2", "c"]);
    expect(await following("zzz")).toEqual([]);
  });

  fixture.test("an unchanged object is listed exactly once while others are created and deleted", async () => {
    const folder = fixture.folder();
    const staying = Array.from({ length: 20 }, (_, i) => `${folder}${String(i).padStart(2, "0")}/stay`);
    for (const key of staying) await fixture.put(key, "stay");
    const seen: string[] = [];
    for (let after = "", round = 0; ; round += 1) {
      const page = await fixture.store.list(fixture.scope, folder, { after, limit: 3 });
      seen.push(...page.keys.map(({ key }) => key).filter((key) => key.endsWith("/stay")));
      if (page.next === undefined) break;
      after = page.next;
      await fixture.put(`${folder}${String((round * 7) % 20).padStart(2, "0")}/come${round}`, "come");
      if (round > 0)
        await fixture.store.delete(fixture.scope, [
          `${folder}${String(((round - 1) * 7) % 20).padStart(2, "0")}/come${round - 1}`,
        ]);
    }
    expect(seen).toEqual(staying);
  });

  fixture.test("limits outside 1–1,000 are rejected", async () => {
    for (const limit of [0, -1, 1.5, limits.objectListKeysMax + 1, Number.NaN, "5"]) {
      await failure(fixture.store.list(fixture.scope, "", { limit } as ListOptions), "INVALID");
    }
    expect((await fixture.store.list(fixture.scope, "nothing/", { limit: limits.objectListKeysMax })).keys).toEqual([]);
  });
}

function deletes(fixture: ObjectFixture): void {
  fixture.test("a delete is idempotent, accepts absent and repeated keys, and leaves neighbours alone", async () => {
    const folder = fixture.folder();
    for (const name of ["papers", "papers/1", "papers_2024", "Papers", "papers.o"])
      await fixture.put(folder + name, name);
    const gone = [`${folder}papers`, `${folder}papers`, `${folder}never`];
    await fixture.store.delete(fixture.scope, gone);
    await fixture.store.delete(fixture.scope, gone);
    await fixture.store.delete(fixture.scope, []);
    expect(await fixture.keys(folder)).toEqual(
      ["Papers", "papers.o", "papers/1", "papers_2024"].map((name) => folder + name),
    );
    await fixture.put(`${folder}papers`, "again");
    expect(await fixture.text(`${folder}papers`)).toBe("again");
  });

  fixture.test("1,000 keys at once; 1,001 are rejected and none is deleted", async () => {
    const folder = fixture.folder();
    for (let i = 0; i < 3; i += 1) await fixture.put(`${folder}${i}`, "x");
    const keys = Array.from({ length: limits.objectDeleteKeysMax + 1 }, (_, i) => `${folder}${i}`);
    await failure(fixture.store.delete(fixture.scope, keys), "INVALID");
    expect(await fixture.keys(folder)).toHaveLength(3);
    await fixture.store.delete(fixture.scope, keys.slice(0, -1));
    expect(await fixture.keys(folder)).toEqual([]);
  });

  fixture.test("one malformed key among many: nothing is deleted", async () => {
    const folder = fixture.folder();
    await fixture.put(`${folder}a`, "x");
    await failure(fixture.store.delete(fixture.scope, [`${folder}a`, "../b"]), "INVALID");
    await failure(fixture.store.delete(fixture.scope, `${folder}a` as unknown as string[]), "INVALID");
    expect(await fixture.keys(folder)).toHaveLength(1);
  });

  fixture.test("concurrent puts and deletes of neighbours lose nothing", async () => {
    const folder = fixture.folder();
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let i = 0; i < 15; i += 1) {
          const key = `${folder}shared/deep/${worker}`;
          await fixture.put(key, `${i}`);
          expect(await fixture.text(key)).toBe(`${i}`);
          await fixture.store.delete(fixture.scope, [key]);
          expect(await fixture.text(key)).toBeUndefined();
        }
      }),
    );
    expect(await fixture.keys(folder)).toEqual([]);
  });
}
