import { expect, it } from "vitest";
import { KeyedQueue } from "./keyed-queue.ts";

it("work that shares a key runs in order, other work runs concurrently, and a failure blocks nothing", async () => {
  const queue = new KeyedQueue();
  const log: string[] = [];
  const gates = new Map(["first", "other"].map((name) => [name, Promise.withResolvers<void>()]));
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    await gates.get(name)?.promise;
    log.push(`${name} ends`);
  };
  const first = queue.run(["a", "b"], work("first"));
  const failing = queue.run(["b"], async () => {
    log.push("failing");
    throw new Error("on purpose");
  });
  const both = queue.run(["b", "c"], work("both"));
  const other = queue.run(["d"], work("other"));
  gates.get("other")?.resolve();
  await other;
  expect(log).toEqual(["first begins", "other begins", "other ends"]);
  gates.get("first")?.resolve();
  await expect(failing).rejects.toThrow("on purpose");
  await Promise.all([first, both, queue.idle()]);
  expect(log.slice(3)).toEqual(["first ends", "failing", "both begins", "both ends"]);
});
