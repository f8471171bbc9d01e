/** Fence, unfence, purge: what ends, ends for good, and nothing returns. */
import { expect } from "vitest";
import { iri, literal, type Quad } from "../../domain/rdf.ts";
import { failure, quad, sorted, type Space, type TripleFixture } from "./fixture.ts";

async function isClosed(space: Space): Promise<void> {
  const one = quad("s", "p", "o");
  await failure(space.open(), "CONFLICT");
  await failure(space.insert([one]), "CONFLICT");
  await failure(space.insert([one], "doc"), "CONFLICT");
  await failure(space.remove([one]), "CONFLICT");
  await failure(space.write({}), "CONFLICT");
  await failure(space.removeSource("doc"), "CONFLICT");
  await failure(space.match({}), "CONFLICT");
  await failure(space.match({ s: iri("never-was") }), "CONFLICT");
  await failure(space.count({}), "CONFLICT");
  await failure(space.supports([one]), "CONFLICT");
  await failure(space.asserted([one]), "CONFLICT");
  await failure(space.mayUse([iri("never-was")]), "CONFLICT");
  await failure(space.ofSource("doc"), "CONFLICT");
  await failure(space.graphs(), "CONFLICT");
}

export function ends(fixture: TripleFixture): void {
  const nothing = { quads: 0, supports: 0, terms: 0 };

  fixture.test("R-TG-108 opening is idempotent, and a space that was not opened rejects writes", async () => {
    const space = fixture.unopened();
    await failure(space.insert([quad("s", "p", "o")]), "NOT_FOUND");
    await space.open();
    await space.insert([quad("s", "p", "o")]);
    await space.open();
    expect(await space.all()).toEqual([quad("s", "p", "o")]);
  });

  fixture.test("R-TG-53 a fence stops writes and reads at once, and unfencing restores everything", async () => {
    const space = await fixture.space();
    const rows = [quad("s", "p", "o"), quad("s", "p", "o", "g")];
    await space.insert(rows, "doc");
    const usage = await space.usage();
    for (let i = 0; i < 2; i += 1) {
      await space.fence();
      await space.fence();
      await isClosed(space);
      expect(await space.usage()).toEqual(usage);
      await space.unfence();
      await space.unfence();
      expect(sorted(await space.all())).toEqual(sorted(rows));
      expect(await space.usage()).toEqual(usage);
    }
    expect(await space.insert([quad("s", "p", "o2")])).toEqual({ inserted: 1, removed: 0 });
  });

  fixture.test("a space can be fenced before it was opened: the late first write is rejected", async () => {
    const space = fixture.unopened();
    await space.fence();
    await isClosed(space);
    await space.unfence();
    expect(await space.insert([quad("s", "p", "o")])).toEqual({ inserted: 1, removed: 0 });
  });

  fixture.test(
    "R-TG-49 R-TG-51 R-TG-66 R-TG-87 a purge in small steps leaves nothing, counts every row once, and is idempotent",
    async () => {
      const scope = fixture.tenant();
      const space = await fixture.space(scope, "gone");
      const other = await fixture.space(scope, "stays");
      const rows = Array.from({ length: 400 }, (_, i): Quad => ({
        s: iri(`s${i % 37}`),
        p: iri(`p${i % 5}`),
        o: literal(`${i}`),
        g: i % 2 === 0 ? iri(`g${i % 8}`) : "",
      }));
      await space.insert(rows, "doc");
      await other.insert(rows.slice(0, 50), "doc");
      const before = await space.usage();
      const limit = 60;
      let deleted = 0;
      let steps = 0;
      for (let done = false; !done; steps += 1) {
        const step = await space.purge(limit);
        expect(step.deleted).toBeLessThanOrEqual(limit);
        if (!step.done) expect(step.deleted).toBeGreaterThan(0);
        deleted += step.deleted;
        done = step.done;
        await failure(space.unfence(), "CONFLICT");
        expect(sorted(await other.all({ g: iri("g0") }))).toEqual(
          sorted(rows.slice(0, 50).filter(({ g }) => g === iri("g0"))),
        );
      }
      expect(steps).toBeGreaterThanOrEqual(5);
      expect(deleted).toBe(before.quads + before.supports + before.terms);
      expect(await space.usage()).toEqual(nothing);
      expect(await space.purge()).toEqual({ deleted: 0, done: true });
      await isClosed(space);
      expect(await other.usage()).toMatchObject({ quads: 50, supports: 50 });
      const empty = await fixture.space();
      expect(await empty.purge()).toEqual({ deleted: 0, done: true });
    },
  );

  fixture.test(
    "R-TG-47 R-TG-68 a purged name is rejected for ever, also one that never existed, and in another store over the same data",
    async () => {
      const scope = fixture.tenant();
      const was = await fixture.space(scope, "was");
      await was.insert([quad("s", "p", "o")]);
      await was.purge();
      const never = fixture.unopened(scope, "never");
      expect(await never.purge()).toEqual({ deleted: 0, done: true });
      await using another = await fixture.another();
      for (const space of [was, never]) {
        await isClosed(space);
        await failure(space.unfence(), "CONFLICT");
        await space.fence();
        await failure(space.unfence(), "CONFLICT");
        expect(await space.usage()).toEqual(nothing);
        await failure(another.open(scope, space.name), "CONFLICT");
        await failure(another.write(scope, space.name, { insert: [quad("s", "p", "o")] }), "CONFLICT");
      }
    },
  );

  fixture.test(
    "R-TG-47 writes in flight when the space is purged are rejected or removed with it: nothing remains",
    async () => {
      const space = await fixture.space();
      await using another = await fixture.another();
      const writes: Promise<unknown>[] = [];
      const write = (i: number): void => {
        const insert = [quad(`s${i}`, "p", "o"), quad(`s${i}`, "p", "o", "g")];
        writes.push(
          (i % 2 === 0 ? fixture.store : another).write(space.scope, space.name, {
            insert,
            ...(i % 3 === 0 ? { source: { source: "doc", part: i } } : {}),
          }),
        );
      };
      for (let i = 0; i < 20; i += 1) write(i);
      const purging = (async () => {
        for (let done = false; !done;) ({ done } = await another.purge(space.scope, space.name, { limit: 7 }));
      })();
      for (let i = 20; i < 40; i += 1) write(i);
      const settled = await Promise.allSettled(writes);
      await purging;
      for (const result of settled)
        if (result.status === "rejected") await failure(Promise.reject(result.reason as Error), "CONFLICT");
      for (let done = false; !done;) ({ done } = await space.purge());
      expect(await space.usage()).toEqual(nothing);
      await isClosed(space);
    },
  );

  fixture.test(
    "R-TG-48 a new incarnation under another name is empty, and the purge of the old one does not touch it",
    async () => {
      const scope = fixture.tenant();
      const old = await fixture.space(scope, "notes.1");
      await old.insert([quad("s", "p", "old")]);
      await old.fence();
      const fresh = await fixture.space(scope, "notes.2");
      expect(await fresh.all()).toEqual([]);
      await fresh.insert([quad("s", "p", "new")]);
      await old.purge();
      expect(await fresh.all()).toEqual([quad("s", "p", "new")]);
    },
  );
}
