import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { tenantScope, type Scope } from "../../src/domain/scope.ts";
import { Vectors } from "../../src/vectors/vectors.ts";
import { scope } from "./support/machine.ts";
import { line, rowsOf } from "./support/state.ts";
import type { Fixture } from "./suite.ts";

type Call = (vectors: Vectors, who: Scope, id: string) => Promise<unknown>;

/** Every method that is about a collection. */
const calls: Record<string, Call> = {
  append: (vectors, who, id) => vectors.append(who, id, { upsert: [{ id: "x", vector: [1, 1] }] }),
  "append again": (vectors, who, id) =>
    vectors.append(who, id, { deltaId: "known", upsert: [{ id: "a", vector: [1, 1] }] }),
  query: (vectors, who, id) => vectors.query(who, id, { vector: [1, 1] }),
  "query with a session": (vectors, who, id) =>
    vectors.query(who, id, { vector: [1, 1], session: Buffer.from('["x",1]').toString("base64url") }),
  countTerms: (vectors, who, id) => vectors.countTerms(who, id, "a"),
  get: (vectors, who, id) => vectors.get(who, id, ["a"]),
  rows: (vectors, who, id) => vectors.rows(who, id).next(),
  count: (vectors, who, id) => vectors.count(who, id),
  "count as of": (vectors, who, id) => vectors.count(who, id, { asOf: { version: 1 } }),
  settings: (vectors, who, id) => vectors.settings(who, id),
  stats: (vectors, who, id) => vectors.stats(who, id),
  history: (vectors, who, id) => vectors.history(who, id),
  compact: (vectors, who, id) => vectors.compact(who, id),
  collect: (vectors, who, id) => vectors.collect(who, id),
  "collect dry": (vectors, who, id) => vectors.collect(who, id, { dryRun: true }),
  fsck: (vectors, who, id) => vectors.fsck(who, id),
  repair: (vectors, who, id) => vectors.repair(who, id, { recoverDeltas: true }),
  restore: (vectors, who, id) => vectors.restore(who, id, { version: 1 }),
  delete: (vectors, who, id) => vectors.delete(who, id, { purgeAt: Date.now() }),
  undelete: (vectors, who, id) => vectors.undelete(who, id),
  purge: (vectors, who, id) => vectors.purge(who, id),
  remains: (vectors, who, id) => vectors.remains(who, id),
  scrub: (vectors, who, id) => vectors.scrub(who, id),
  leftovers: (vectors, who, id) => vectors.leftovers(who, id),
  "dead.list": (vectors, who, id) => vectors.dead.list(who, id),
  "dead.inspect": (vectors, who, id) => vectors.dead.inspect(who, id, 1),
  "dead.redrive": (vectors, who, id) => vectors.dead.redrive(who, id, 1),
  "dead.discard": (vectors, who, id) => vectors.dead.discard(who, id, 1),
};
/** Methods that do not concern another tenant's collection: tested separately. */
const others = ["constructor", "create", "list", "metrics", "dead"];

async function answer(call: Call, vectors: Vectors, who: Scope, id: string): Promise<unknown> {
  try {
    return { value: await call(vectors, who, id) };
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    return {
      code: error.code,
      message: error.message.replaceAll(id, "?"),
      retryable: error.retryable,
      context: error.context,
    };
  }
}

export function tenantCases(fixture: Fixture): void {
  describe("tenants", () => {
    it("every method is in the list of this test", () => {
      const tested = new Set(Object.keys(calls).map((name) => name.split(/[ .]/)[0] as string));
      const methods = Object.getOwnPropertyNames(Vectors.prototype).filter((name) => !others.includes(name));
      expect(methods.filter((name) => !tested.has(name))).toEqual([]);
    });

    it("R-CMP-34 another tenant's collection answers every method exactly as one that does not exist, and is unharmed", async () => {
      const { first, second } = fixture;
      const [mine, missing] = [fixture.id(), fixture.id()];
      const stranger = tenantScope("acme2");
      await first.create(scope, mine, { dims: 2, metric: "dot" });
      await first.append(scope, mine, { deltaId: "known", upsert: [{ id: "a", vector: [1, 1] }] });
      await first.compact(scope, mine);
      await first.append(scope, mine, { upsert: [{ id: "b", vector: [1, 1] }] });
      await first.query(scope, mine, { vector: [1, 1] });
      for (const vectors of [first, second]) {
        for (const [name, call] of Object.entries(calls)) {
          const refused = await answer(call, vectors, stranger, mine);
          expect(refused, name).toEqual(await answer(call, vectors, stranger, missing));
          // The count of what still exists is 0 for one that never existed.
          if (name === "remains") expect(refused, name).toMatchObject({ value: { status: "absent" } });
          else if (name === "settings") expect(refused, name).toEqual({ value: undefined });
          else expect(refused, name).not.toHaveProperty("value");
        }
      }
      expect((await first.list(stranger)).collections).toEqual([]);
      expect(await rowsOf(second, mine)).toEqual([line("a", [1, 1]), line("b", [1, 1])]);
      await first.create(stranger, mine, { dims: 3 });
      await first.append(stranger, mine, { deltaId: "known", upsert: [{ id: "theirs", vector: [1, 1, 1] }] });
      expect(await first.count(stranger, mine)).toBe(1);
      await first.purge(stranger, mine);
      expect(await rowsOf(second, mine)).toEqual([line("a", [1, 1]), line("b", [1, 1])]);
      expect((await first.fsck(scope, mine)).ok).toBe(true);
    });

    it("R-CMP-34 without a scope, or with a look-alike, every method is rejected before anything else", async () => {
      const { first } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2 });
      const all: Record<string, Call> = {
        ...calls,
        create: (vectors, who, name) => vectors.create(who, name, { dims: 2 }),
        list: (vectors, who) => vectors.list(who),
      };
      for (const who of [undefined, null, {}, { tenant: "acme" }, "acme"]) {
        for (const [name, call] of Object.entries(all)) {
          expect(await answer(call, first, who as unknown as Scope, id), name).toMatchObject({
            code: "UNAUTHENTICATED",
          });
        }
      }
    });
  });
}
