/** Waiting receivers are woken, or poll; nothing depends on a notification. */
import { expect } from "vitest";
import { failure, type QueueFixture } from "./fixture.ts";

/** Far longer than any of these tests may take: that a wait ended at all shows that it ended early. */
const long = 600_000;

export function waiting(fixture: QueueFixture): void {
  fixture.test("a waiting receiver is woken by a send, and by the ending of the message before", async () => {
    const queue = fixture.named(await fixture.open({ pollMsMax: 30_000 }));
    const first = queue.receive({ waitMs: long, leaseMs: 60_000 });
    await queue.send("g", 1);
    await queue.send("g", 2);
    const [message] = await first;
    expect(message?.body).toBe(1);
    const second = queue.receive({ waitMs: long, leaseMs: 60_000 });
    await queue.done(message as NonNullable<typeof message>);
    expect((await second).map(({ body }) => body)).toEqual([2]);
  });

  fixture.test("R-CMP-11: polling finds what another process sends, without any notification", async () => {
    const queue = fixture.named(await fixture.open({ pollMsMax: 100 }));
    const other = queue.through(await fixture.open());
    const received = queue.receive({ waitMs: long });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await other.send("g", "from elsewhere");
    expect((await received).map(({ body }) => body)).toEqual(["from elsewhere"]);
  });

  fixture.test(
    "a wait ends after its time with nothing, at once when aborted, and when the queue is closed",
    async () => {
      const opened = await fixture.open();
      const queue = fixture.named(opened);
      expect(await queue.receive({ waitMs: 20 })).toEqual([]);
      const stopped = AbortSignal.abort(new Error("given up before"));
      await expect(queue.receive({ waitMs: long, signal: stopped })).rejects.toThrow("given up before");
      const controller = new AbortController();
      const aborted = queue.receive({ waitMs: long, signal: controller.signal });
      const closed = queue.receive({ waitMs: long });
      setTimeout(() => controller.abort(new Error("given up")), 20);
      await expect(aborted).rejects.toThrow("given up");
      await opened.close();
      expect(await closed).toEqual([]);
      await failure(queue.send("g", 1), "UNAVAILABLE");
      await failure(queue.receive(), "UNAVAILABLE");
      await opened.close();
    },
  );
}
