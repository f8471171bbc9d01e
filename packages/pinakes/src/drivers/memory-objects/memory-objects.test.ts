import { describe, expect, it } from "vitest";
import { tenantScope } from "../../domain/scope.ts";
import { errorOf, failure, utf8 } from "../../testing/object-store/fixture.ts";
import { objectStoreSuite } from "../../testing/object-store-suite.ts";
import { ObjectFaults, type FaultyCall } from "./faults.ts";
import { openMemoryObjects } from "./index.ts";

objectStoreSuite("memory", () => openMemoryObjects());

const scope = tenantScope("acme");

function faulty() {
  const faults = new ObjectFaults();
  return { faults, objects: openMemoryObjects({ faults }) };
}

describe("memory objects: faults", () => {
  it("the nth call of a kind fails before it did anything; those before and after do not", async () => {
    const { faults, objects } = faulty();
    faults.add({ call: "put", nth: 2, kind: "fail" });
    await objects.put(scope, "a", utf8("1"));
    await failure(objects.put(scope, "b", utf8("2")), "UNAVAILABLE");
    await objects.put(scope, "c", utf8("3"));
    expect((await objects.list(scope, "")).keys.map(({ key }) => key)).toEqual(["a", "c"]);
    expect(faults.pending).toBe(0);
  });

  it("fail-after does the work and loses the answer", async () => {
    const { faults, objects } = faulty();
    const lost = new Error("connection reset");
    faults.add({ call: "put", nth: 1, kind: "fail-after", error: lost });
    expect(await errorOf(objects.put(scope, "a", utf8("1")))).toBe(lost);
    expect(await objects.get(scope, "a")).toEqual(new Uint8Array(utf8("1")));
    faults.add({ call: "delete", nth: 1, kind: "fail-after" });
    await failure(objects.delete(scope, ["a"]), "UNAVAILABLE");
    expect(await objects.head(scope, "a")).toBeUndefined();
  });

  it("every method can fail", async () => {
    const { faults, objects } = faulty();
    const calls: Record<FaultyCall, () => Promise<unknown>> = {
      put: () => objects.put(scope, "a", utf8("1")),
      get: () => objects.get(scope, "a"),
      stream: () => objects.stream(scope, "a"),
      head: () => objects.head(scope, "a"),
      list: () => objects.list(scope, ""),
      delete: () => objects.delete(scope, ["a"]),
    };
    for (const [call, run] of Object.entries(calls)) {
      faults.add({ call: call as FaultyCall, nth: 1, kind: "fail" });
      await failure(run(), "UNAVAILABLE");
      await run();
    }
  });

  it("a delay holds one call until it is released, and lets others pass", async () => {
    const { faults, objects } = faulty();
    const gate = Promise.withResolvers<void>();
    faults.add({ call: "put", nth: 1, kind: "delay", until: gate.promise });
    const held = objects.put(scope, "held", utf8("1"));
    await objects.put(scope, "free", utf8("2"));
    expect(await objects.head(scope, "held")).toBeUndefined();
    gate.resolve();
    await held;
    expect(await objects.head(scope, "held")).toMatchObject({ bytes: 1 });
  });

  it("a truncated write stores too little and reports success; only a put can be truncated", async () => {
    const { faults, objects } = faulty();
    faults.add({ call: "put", nth: 1, kind: "truncate", bytes: 3 });
    await objects.put(scope, "a", utf8("abcdef"));
    expect(await objects.get(scope, "a")).toEqual(new Uint8Array(utf8("abc")));
    expect(() => faults.add({ call: "get", nth: 1, kind: "truncate", bytes: 1 })).toThrow("Only a put");
  });
});
