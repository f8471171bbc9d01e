import { describe, expect, it } from "vitest";
import { lifecycleLimits } from "./limits.ts";
import {
  applyAnswer,
  dueRows,
  ended,
  isConfirmed,
  markSent,
  markSilent,
  newRow,
  nextDue,
  reportOf,
  retried,
  withSeats,
  type Answer,
  type Operation,
} from "./operation.ts";

const seat = (store: string, able = true) => ({ store, topic: `t-${store}`, able });
const operation = (over: Partial<Operation> = {}): Operation => ({
  kind: "operation",
  operation_id: "o",
  action: "delete-collection",
  repository_id: "r",
  collection_id: "c",
  incarnation: "i",
  status: "running",
  partial: false,
  allow_partial: false,
  created_by: "u",
  created_at: "",
  updated_at: "",
  finished_at: null,
  stores: [newRow(seat("a"), 0), newRow(seat("b"), 0)],
  ...over,
});
const answer = (over: Partial<Answer> = {}): Answer => ({
  store: "a",
  attempt: 1,
  success: true,
  error: null,
  deleted: 1,
  remaining: 0,
  duration_ms: 5,
  ...over,
});
const sent = (now = 0) => markSent(operation(), operation().stores, now) as Operation;
const row = (of: Operation | undefined, store = "a") => of?.stores.find((one) => one.store === store);
const failure = { success: false, error: { type: "x", message: "broken" }, deleted: 0 };

describe("an operation", () => {
  it("R-TG-62 is confirmed row by row, only by a count of zero", () => {
    const one = applyAnswer(sent(), answer(), 1) as Operation;
    expect(row(one)).toMatchObject({ status: "confirmed", deleted: 1, duration_ms: 5 });
    expect(isConfirmed(one)).toBe(false);
    expect(row(applyAnswer(sent(), answer({ remaining: 1 }), 1))).toMatchObject({
      status: "waiting",
      failures: 0,
      next_at: 1,
    });
    expect(row(applyAnswer(sent(), answer({ remaining: 1, deleted: 0 }), 1))).toMatchObject({
      status: "waiting",
      failures: 1,
      error: { type: "remaining" },
    });
    // An archived store may hold any number.
    const archive = { ...sent(), action: "archive-collection" as const };
    expect(row(applyAnswer(archive, answer({ remaining: 9 }), 1))).toMatchObject({ status: "confirmed", remaining: 9 });
    const both = applyAnswer(one, answer({ store: "b" }), 2) as Operation;
    expect(isConfirmed(both)).toBe(true);
    expect(ended(both, "now")).toMatchObject({
      status: "done",
      finished_at: "now",
      partial: false,
      ttl: lifecycleLimits.reportDaysMax * 86_400,
    });
  });

  it("R-TG-50 `remaining` is unknown until a store has counted, keeps its last value if a later count fails, and no reply without a count confirms", () => {
    expect(reportOf(sent()).map(({ remaining }) => remaining)).toEqual([null, null]);
    expect(row(markSilent(sent(), lifecycleLimits.replyMsMax))).toMatchObject({
      remaining: null,
      error: { type: "no_reply" },
    });
    const { remaining: _, ...uncounted } = answer();
    expect(row(applyAnswer(sent(), { ...uncounted, ...failure }, 1))).toMatchObject({
      status: "waiting",
      remaining: null,
      failures: 1,
      error: failure.error,
    });
    // It removed something, and is asked for the rest; then it neither removed nor counted anything.
    const went = applyAnswer(sent(), uncounted, 1) as Operation;
    expect(row(went)).toMatchObject({ status: "waiting", remaining: null, failures: 0, next_at: 1 });
    const again = applyAnswer(markSent(went, went.stores, 1) as Operation, { ...uncounted, attempt: 2, deleted: 0 }, 2);
    expect(row(again)).toMatchObject({
      status: "waiting",
      remaining: null,
      failures: 1,
      error: { type: "not_counted" },
    });
    const counted = applyAnswer(
      again as Operation,
      answer({ attempt: 3, success: false, remaining: 7 }),
      3,
    ) as Operation;
    expect(row(counted)).toMatchObject({ remaining: 7 });
    const later = applyAnswer(counted, { ...uncounted, ...failure, attempt: 4 }, 4) as Operation;
    expect(row(later)).toMatchObject({ status: "waiting", remaining: 7, error: failure.error });
    expect(row(applyAnswer(later, answer({ attempt: 5 }), 5))).toMatchObject({ status: "confirmed", remaining: 0 });
    // The contents of a store that cannot do it are unknown.
    expect(newRow(seat("c", false), 0)).toMatchObject({ status: "left", remaining: null });
  });

  it("R-TG-59 a reply of another store, of a nonexistent attempt, a duplicate, or one after the end changes nothing", () => {
    const one = applyAnswer(sent(), answer(), 1) as Operation;
    for (const reply of [answer(), answer({ attempt: 2 }), answer({ store: "z" }), answer({ store: "b", attempt: 3 })])
      expect(applyAnswer(one, reply, 2)).toBeUndefined();
    expect(applyAnswer({ ...sent(), status: "done" }, answer(), 2)).toBeUndefined();
    const failed = applyAnswer(sent(), answer(failure), 1) as Operation;
    expect(applyAnswer(failed, answer(failure), 2)).toBeUndefined();
    // The message was sent, but its sender died before recording it.
    expect(row(applyAnswer(operation(), answer(), 1))).toMatchObject({ status: "confirmed", attempts: 1 });
  });

  it("R-TG-41 waits longer after each failure up to a limit, and has failed after five in a row; progress resets the count", () => {
    const { retryMsFirst, retryMsMax, failuresMax } = lifecycleLimits;
    let now = 0;
    let one = operation();
    for (let failures = 1; failures <= 12; failures += 1) {
      one = markSent(one, dueRows(one, now), now) as Operation;
      one = applyAnswer(one, answer({ ...failure, attempt: failures }), now) as Operation;
      expect(row(one)).toMatchObject({
        failures,
        next_at: now + Math.min(retryMsMax, retryMsFirst * 2 ** (failures - 1)),
      });
      expect(one.status, `after ${failures}`).toBe(failures < failuresMax ? "running" : "failed");
      now = row(one)?.next_at as number;
      expect(dueRows(one, now - 1).map(({ store }) => store)).not.toContain("a");
    }
    expect(retried(one, 7)).toMatchObject({ status: "running" });
    expect(row(retried(one, 7))).toMatchObject({ failures: 0, next_at: 7, attempts: 12 });
    one = markSent(one, dueRows(one, now), now) as Operation;
    const better = applyAnswer(
      one,
      answer({ attempt: 13, success: false, deleted: 3, remaining: 4 }),
      now,
    ) as Operation;
    expect(better.status).toBe("running");
    expect(row(better)).toMatchObject({ failures: 0, next_at: now, remaining: 4 });
  });

  it("R-TG-44 a row without a reply is sent again after a minute, not earlier; a heartbeat restarts the minute", () => {
    const { replyMsMax } = lifecycleLimits;
    expect(nextDue(sent(5))).toBe(5 + replyMsMax);
    expect(markSilent(sent(5), 5 + replyMsMax - 1)).toBeUndefined();
    expect(row(markSilent(sent(5), 5 + replyMsMax))).toMatchObject({
      status: "waiting",
      failures: 1,
      error: { type: "no_reply" },
    });
    const alive = applyAnswer(sent(5), answer({ success: false, working: true, deleted: 0 }), 50_000) as Operation;
    expect(row(alive)).toMatchObject({ status: "sent", sent_at: 50_000, answered: 0, failures: 0 });
    expect(row(markSilent(alive, 5 + replyMsMax))).toMatchObject({ status: "sent" });
  });

  it("R-TG-36 stores registered later join; missing or unable ones are skipped, and the operation says so", () => {
    const joined = withSeats(sent(), [seat("a"), seat("b"), seat("c")], 3) as Operation;
    expect(row(joined, "c")).toMatchObject({ status: "waiting", next_at: 3 });
    expect(withSeats(sent(), [seat("a"), seat("b")], 3)).toBeUndefined();
    const after = withSeats(sent(), [seat("a")], 3) as Operation;
    expect(after.partial).toBe(true);
    expect(row(after, "b")).toMatchObject({ status: "left" });
    const confirmed = applyAnswer(sent(), answer(), 1) as Operation;
    expect(row(withSeats(confirmed, [seat("b"), seat("d", false)], 3))).toMatchObject({ status: "confirmed" });
    expect(row(withSeats(confirmed, [seat("b"), seat("d", false)], 3), "d")).toMatchObject({ status: "left" });
  });
});
