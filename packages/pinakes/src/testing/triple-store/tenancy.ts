/** No method reaches another tenant or another space. */
import { expect } from "vitest";
import { iri, type Quad } from "../../domain/rdf.ts";
import { tenantScope, type Scope } from "../../domain/scope.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { failure, quad, sorted, sortedParts, type Space, type TripleFixture } from "./fixture.ts";
import { patternsOf } from "./oracle.ts";

/** Every method that takes a space, with arguments that are valid but for the scope. */
function calls(store: TripleStore, scope: Scope, space: string): (() => Promise<unknown>)[] {
  return [
    () => store.open(scope, space),
    () => store.write(scope, space, { insert: [quad("s", "p", "o")] }),
    () => store.removeSource(scope, space, "a"),
    () => store.match(scope, space, {}),
    () => store.count(scope, space, {}),
    () => store.supports(scope, space, [quad("s", "p", "o")]),
    () => store.asserted(scope, space, [quad("s", "p", "o")]),
    () => store.mayUse(scope, space, [iri("s")]),
    () => store.ofSource(scope, space, "a"),
    () => store.graphs(scope, space),
    () => store.usage(scope, space),
    () => store.fence(scope, space),
    () => store.unfence(scope, space),
    () => store.purge(scope, space),
  ];
}

export function tenancy(fixture: TripleFixture): void {
  fixture.test("R-TG-86 every method rejects a call without a real scope, or without a space", async () => {
    const real = fixture.tenant();
    for (const scope of [undefined, null, {}, { tenant: real.tenant }, "acme"])
      for (const call of [
        ...calls(fixture.store, scope as unknown as Scope, "s"),
        () => fixture.store.spaces(scope as unknown as Scope),
      ])
        await failure(call(), "UNAUTHENTICATED");
    for (const space of [undefined, null, "", 7, {}] as unknown[])
      for (const call of calls(fixture.store, real, space as string)) await failure(call(), "INVALID");
  });

  fixture.test(
    "R-TG-82 R-TG-72 no pattern returns rows of another space or tenant, and the same quad in two is two rows",
    async () => {
      const [mine, theirs] = [fixture.tenant(), fixture.tenant()];
      const spaces = [await fixture.space(mine, "a"), await fixture.space(mine, "b"), await fixture.space(theirs, "a")];
      const shared = [quad("s", "p", "o"), quad("s", "p", "o", "g")];
      for (const [i, space] of spaces.entries())
        expect(await space.insert([...shared, quad("s", "p", `own${i}`)], "doc", i)).toEqual({
          inserted: 3,
          removed: 0,
        });
      for (const [i, space] of spaces.entries()) {
        const own = [...shared, quad("s", "p", `own${i}`)];
        for (const pattern of own.flatMap(patternsOf)) {
          const expected = own.filter((row) =>
            (["s", "p", "o", "g"] as const).every(
              (place) => pattern[place] === undefined || pattern[place] === row[place],
            ),
          );
          expect(sorted(await space.all(pattern))).toEqual(sorted(expected));
          expect(await space.count(pattern)).toBe(expected.length);
        }
        expect(await space.all({ o: iri(`own${(i + 1) % 3}`) })).toEqual([]);
        expect(sortedParts(await space.allOfSource("doc"))).toEqual(
          sortedParts(own.map((row) => ({ quad: row, parts: [i] }))),
        );
        expect(await space.supports(shared)).toEqual([[{ source: "doc", part: i }], [{ source: "doc", part: i }]]);
      }
      await (spaces[0] as Space).removeSource("doc");
      expect(await (spaces[0] as Space).all()).toEqual([]);
      expect(await (spaces[1] as Space).usage()).toMatchObject({ quads: 3, supports: 3 });
      expect(await (spaces[2] as Space).usage()).toMatchObject({ quads: 3, supports: 3 });
    },
  );

  fixture.test("R-TG-09 another tenant's space answers exactly as one that never existed", async () => {
    const { name } = await fixture.space();
    const stranger = fixture.tenant();
    for (const space of [fixture.unopened(stranger, name), fixture.unopened(stranger, "never-was")]) {
      expect(await space.match({})).toEqual({ quads: [], examined: 0 });
      expect(await space.count({ s: iri("s") })).toBe(0);
      expect(await space.supports([quad("s", "p", "o")])).toEqual([[]]);
      expect(await space.asserted([quad("s", "p", "o")])).toEqual([false]);
      expect(await space.mayUse([iri("s")])).toEqual([false]);
      expect(await space.ofSource("a")).toEqual({ quads: [], examined: 0 });
      expect(await space.graphs()).toEqual([]);
      expect(await space.usage()).toEqual({ quads: 0, supports: 0, terms: 0 });
      await failure(space.insert([quad("s", "p", "o")]), "NOT_FOUND");
      await failure(space.removeSource("a"), "NOT_FOUND");
      await failure(space.unfence(), "NOT_FOUND");
    }
    expect(await fixture.store.spaces(stranger)).toEqual({ spaces: [] });
  });

  fixture.test(
    "R-TG-32 R-TG-39 a purge removes all and only its own space, however similar the names of its neighbours are",
    async () => {
      const { tenant } = fixture.tenant();
      const keys: [string, string][] = [
        [tenant, "papers"],
        [tenant, "papers_2024"],
        [tenant, "papers-2024"],
        [tenant, "Papers"],
        [tenant, "paper"],
        [tenant, "b_c"],
        [`${tenant}_b`, "c"],
        [`${tenant}-b`, "c"],
        [tenant, "b-c"],
        [tenant.toUpperCase(), "papers"],
        [tenant, "1"],
        [tenant, "01"],
      ];
      const rows: Quad[] = [quad("s", "p", "o"), quad("s", "p", "o", "g"), quad("s2", "p", "o", "h")];
      const spaces: Space[] = [];
      for (const [owner, name] of keys) spaces.push(await fixture.space(tenantScope(owner), name));
      for (const space of spaces) await space.insert(rows, "doc");
      for (const [i, space] of spaces.entries()) {
        expect(await space.purge()).toEqual({ deleted: 3 + 3 + fixture.terms(6), done: true });
        for (const [j, other] of spaces.entries()) {
          expect(await other.usage(), `${keys[j]?.join("/")} after ${keys[i]?.join("/")}`).toEqual(
            j <= i ? { quads: 0, supports: 0, terms: 0 } : { quads: 3, supports: 3, terms: fixture.terms(6) },
          );
          if (j > i) expect(sorted(await other.all())).toEqual(sorted(rows));
        }
      }
    },
  );

  fixture.test(
    "R-TG-70 a tenant's spaces are listed in the order of their names, in pages, with their status",
    async () => {
      const scope = fixture.tenant();
      for (const name of ["b", "B", "a-1", "a", "a.1", "z"]) await fixture.space(scope, name);
      await fixture.unopened(scope, "b").fence();
      await fixture.unopened(scope, "z").purge();
      await fixture.settle();
      const expected = ["B", "a", "a-1", "a.1", "b", "z"].map((space) => ({
        space,
        status: space === "b" ? "fenced" : space === "z" ? "purged" : "open",
      }));
      expect(await fixture.store.spaces(scope)).toEqual({ spaces: expected });
      const seen: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await fixture.store.spaces(scope, { limit: 2, cursor });
        seen.push(...page.spaces);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(expected);
    },
  );
}
