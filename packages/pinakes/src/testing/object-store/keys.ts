/** Keys at each limit and one past it; hostile ones are rejected or harmless. */
import { expect } from "vitest";
import { limits } from "../../domain/limits.ts";
import { failure, utf8, type ObjectFixture } from "./fixture.ts";

const max = limits.objectKeyBytesMax;

const refused: readonly unknown[] = [
  "",
  "/",
  "/a",
  "a/",
  "a//b",
  ".",
  "..",
  "../a",
  "a/..",
  "a/../b",
  "a/./b",
  "./a",
  "a\\b",
  "..\\a",
  "a\0b",
  "a\nb",
  "a\tb",
  "a\u007fb",
  "a\u0085b",
  "\ud800",
  "a\udc00b",
  "x".repeat(max + 1),
  "é".repeat(max / 2) + "x",
  `${"a/".repeat(max / 2)}b`,
  undefined,
  null,
  5,
  {},
  ["a"],
];

const accepted: readonly string[] = [
  "a",
  "x".repeat(max),
  "é".repeat(max / 2),
  "\u{1f600}".repeat(max / 4),
  "A".repeat(max),
  `${"a/".repeat(max / 2 - 1)}bb`,
  "...",
  "..a/b..",
  "%2e%2e/%2f",
  "%00",
  "t/acme2/x",
  "tmp/x",
  "v1/x",
  "C:/windows",
  "a:b*c?d<e>f|g\"h'i",
  "~/.ssh",
  "$(reboot)`x`;&",
  "e\u0301",
  "\u00e9",
  "con",
  "trailing.",
  "trailing ",
  " leading",
  "\u202ertl",
];

export function keys(fixture: ObjectFixture): void {
  fixture.test(
    "keys that are empty, too long, not UTF-8, or have empty, dot or control segments are rejected by every method",
    async () => {
      for (const bad of refused) {
        const key = bad as string;
        await failure(fixture.store.put(fixture.scope, key, utf8("x")), "INVALID");
        await failure(fixture.store.get(fixture.scope, key), "INVALID");
        await failure(fixture.store.stream(fixture.scope, key), "INVALID");
        await failure(fixture.store.head(fixture.scope, key), "INVALID");
        await failure(fixture.store.delete(fixture.scope, [key]), "INVALID");
      }
    },
  );

  fixture.test("unusual keys up to the limit are accepted, distinct, and listed as given", async () => {
    const distinct = [...new Set(accepted)];
    for (const key of distinct) await fixture.put(key, key);
    for (const key of distinct) expect(await fixture.text(key), key).toBe(key);
    const listed = new Set(await fixture.keys(""));
    for (const key of distinct) expect(listed, key).toContain(key);
    await fixture.store.delete(fixture.scope, distinct);
    const left = new Set(await fixture.keys(""));
    for (const key of distinct) expect(left, key).not.toContain(key);
  });

  fixture.test(
    "prefixes and after: too long, malformed or escaping ones are rejected; partial segments are fine",
    async () => {
      for (const prefix of ["../", "a/../", "a//", "/", "a\\", "a\0", "\ud800", "x".repeat(max + 1), null, 5]) {
        await failure(fixture.store.list(fixture.scope, prefix as string), "INVALID");
      }
      for (const after of ["a\0", "\ud800", "x".repeat(max + 1), null, 5])
        await failure(fixture.store.list(fixture.scope, "", { after: after as string }), "INVALID");
      for (const prefix of [".", "..", "a/.", "a/..", "x".repeat(max)])
        expect((await fixture.store.list(fixture.scope, `no/${prefix}`.slice(0, max))).keys).toEqual([]);
    },
  );
}
