import { describe, expect, it } from "vitest";
import { alarmsOf } from "./alarms.ts";

const well = { readiness: { ready: true, reasons: {}, warnings: {} }, queues: [], lag: undefined };
const queue = { name: "documents", waiting: 0, in_progress: 0, failed: 0, dead: 0, oldest_age_seconds: null };
const lag = { unfinished: 1, failed: 0, lag_seconds: 300, limit_seconds: 300, oldest: null, warning: null };

describe("alarms", () => {
  it("there are none while all is well, and none before anything is known", () => {
    expect(alarmsOf(well)).toEqual([]);
    expect(alarmsOf({ readiness: undefined, queues: undefined, lag: undefined })).toEqual([]);
  });

  it("what is broken comes before what is only warned of, each with whose it is", () => {
    const found = alarmsOf({
      readiness: { ready: false, reasons: { items: "does not answer" }, warnings: { "ttl sweep": "is late" } },
      queues: [
        { ...queue, failed: 2 },
        { ...queue, name: "vectors", dead: 1 },
      ],
      lag: undefined,
    });
    expect(found.map(({ tone, scope, text }) => [tone, scope, text])).toEqual([
      ["bad", "server", "Not ready: items. does not answer"],
      ["bad", "workspace", "1 message was given up in the queue vectors."],
      ["warn", "server", "ttl sweep: is late"],
      ["warn", "workspace", "2 documents could not be indexed."],
    ]);
  });

  it("a deletion is late one second past the limit, not at it", () => {
    expect(alarmsOf({ ...well, lag })).toEqual([]);
    expect(alarmsOf({ ...well, lag: { ...lag, lag_seconds: 301 } })).toMatchObject([
      { key: "deletion lag", place: { search: { status: "running" } } },
    ]);
    expect(alarmsOf({ ...well, lag: { ...lag, failed: 1 } }).map(({ key }) => key)).toEqual(["stuck deletions"]);
  });
});
