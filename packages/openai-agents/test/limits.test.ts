import { expect, it } from "vitest";
import { PinakesSession } from "../src/index.ts";
import { removedItemsMax, SessionLog } from "../src/log/session-log.ts";
import { failedCallsMax } from "../src/pinakes-session.ts";
import { openSessions, unreliable, user } from "./support/sessions.ts";

it("R-AGT-95 OpenAI Agents Session: a change removes as many items as the limit says, and one more is refused", async () => {
  await using sessions = await openSessions("memory", "embedded");
  const log = new SessionLog(sessions.api.threads, "s1");
  const removes = Array.from(
    { length: removedItemsMax },
    (_, i) => `0123456789abcdef0123.${String(i).padStart(6, "0")}`,
  );
  const change = { id: "c1", group: "g1", items: [] };
  await expect(log.change({ ...change, removes: [...removes, "more"] }, 0)).rejects.toMatchObject({
    code: "LIMIT_EXCEEDED",
  });
  expect((await log.read(1)).head).toBe(0);
  expect(await log.change({ ...change, removes }, 0)).toEqual({ counts: true, head: 1 });
});

it("R-AGT-95 OpenAI Agents Session: as many failed calls as the limit says are recognised when they are repeated", async () => {
  await using sessions = await openSessions("memory", "embedded");
  const lost = new Set(Array.from({ length: failedCallsMax + 1 }, (_, i) => i + 1));
  const session = new PinakesSession({ api: { threads: unreliable(sessions.api.threads, lost) }, sessionId: "s1" });
  for (const number of lost) await expect(session.addItems([user(`${number}`)])).rejects.toThrow(/answer was lost/);
  await session.addItems([user("2")]);
  await session.addItems([user(`${failedCallsMax + 1}`)]);
  expect((await session.getItems()).length).toBe(failedCallsMax + 1);
  await session.addItems([user("1")]);
  expect((await session.getItems()).length).toBe(failedCallsMax + 2);
});
