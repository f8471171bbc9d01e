/** Abort, close and reopen. */
import { expect } from "vitest";
import { errorOf, failure, utf8, type ObjectFixture } from "./fixture.ts";
import { pattern } from "./pattern.ts";

export function lifetimes(fixture: ObjectFixture): void {
  fixture.test("an aborted signal stops every call with its reason, and nothing is done", async () => {
    const key = `${fixture.folder()}x`;
    await fixture.put(key, "kept");
    const reason = new Error("changed my mind");
    const signal = AbortSignal.abort(reason);
    const { store, scope } = fixture;
    const calls = [
      store.put(scope, key, utf8("new"), { signal }),
      store.get(scope, key, { signal }),
      store.stream(scope, key, { signal }),
      store.head(scope, key, { signal }),
      store.list(scope, "", { signal }),
      store.delete(scope, [key], { signal }),
    ];
    for (const call of calls.map(errorOf)) expect(await call).toBe(reason);
    expect(await fixture.text(key)).toBe("kept");
  });

  fixture.test("an abort while the source is silent ends the put and leaves nothing", async () => {
    const folder = fixture.folder();
    const controller = new AbortController();
    const reason = new Error("too slow");
    async function* chunks() {
      yield pattern(100_000);
      setImmediate(() => controller.abort(reason));
      await new Promise(() => {}); // Never yields again.
    }
    expect(await errorOf(fixture.store.put(fixture.scope, `${folder}x`, chunks(), { signal: controller.signal }))).toBe(
      reason,
    );
    expect(await fixture.keys(folder)).toEqual([]);
  });

  fixture.test("an abort between two chunks ends a stream", async () => {
    const key = `${fixture.folder()}x`;
    await fixture.store.put(fixture.scope, key, pattern(4 * 1_048_576));
    const controller = new AbortController();
    const stream = await fixture.store.stream(fixture.scope, key, { signal: controller.signal });
    const reading = (async () => {
      for await (const _ of stream ?? []) controller.abort(new Error("enough"));
    })();
    expect(await errorOf(reading)).toMatchObject({ message: "enough" });
  });

  fixture.test("close waits for a running put, is idempotent, and rejects later calls", async () => {
    await using store = await fixture.open();
    const slow = Promise.withResolvers<void>();
    async function* chunks() {
      yield utf8("a");
      await slow.promise;
      yield utf8("b");
    }
    const ended: string[] = [];
    const put = store.put(fixture.scope, "close/x", chunks()).finally(() => ended.push("put"));
    const closed = store.close().finally(() => ended.push("close"));
    await failure(store.put(fixture.scope, "close/y", utf8("late")), "UNAVAILABLE");
    slow.resolve();
    expect(await put).toMatchObject({ bytes: 2 });
    await closed;
    expect(ended).toEqual(["put", "close"]);
    await store.close();
    await failure(store.get(fixture.scope, "close/x"), "UNAVAILABLE");
    await failure(store.list(fixture.scope, ""), "UNAVAILABLE");
  });

  fixture.test("a durable store has everything again after it was closed and reopened", async () => {
    if (fixture.reopen === undefined) {
      expect(fixture.store.capabilities.durable, "a durable store's harness needs reopen").toBe(false);
      return;
    }
    const folder = fixture.folder();
    await fixture.put(`${folder}a/b`, "one");
    await fixture.put(`${folder}a`, "two");
    const before = await fixture.store.list(fixture.scope, folder);
    const head = await fixture.store.head(fixture.scope, `${folder}a`);
    await fixture.store.close();
    fixture.replaceStore(await fixture.reopen());
    expect(await fixture.store.list(fixture.scope, folder)).toEqual(before);
    expect(await fixture.store.head(fixture.scope, `${folder}a`)).toEqual(head);
    expect(await fixture.text(`${folder}a/b`)).toBe("one");
  });
}
