import type { AlarmState, Queue } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { alarmsOf } from "./alarms.ts";

const healthy = { readiness: { ready: true, reasons: {}, warnings: {} }, queues: [], states: [] };
const queue: Queue = { name: "documents", waiting: 0, in_progress: 0, failed: 0, dead: 0, oldest_age_seconds: null };
const state: AlarmState = {
  name: "deletion_lag",
  help: "Age of the oldest delete that some store has not confirmed.",
  unit: "seconds",
  value: 301,
  threshold: 300,
  firing: true,
  detail: "A delete is not done after 301 s; 300 s are allowed.",
};

describe("alarms", () => {
  it("none while everything is healthy, and none before the first answer", () => {
    expect(alarmsOf(healthy)).toEqual([]);
    expect(alarmsOf({ readiness: undefined, queues: undefined, states: undefined })).toEqual([]);
  });

  it("errors come before warnings, each with its scope", () => {
    const alarms = alarmsOf({
      readiness: { ready: false, reasons: { items: "does not answer" }, warnings: { "ttl sweep": "is late" } },
      queues: [
        { ...queue, failed: 2 },
        { ...queue, name: "vectors", dead: 1 },
      ],
      states: [],
    });
    expect(alarms.map(({ tone, scope, text }) => [tone, scope, text])).toEqual([
      ["bad", "server", "Not ready: items. does not answer"],
      ["bad", "workspace", "1 dead letter in the queue vectors."],
      ["warn", "server", "ttl sweep: is late"],
      ["warn", "workspace", "2 documents could not be indexed."],
    ]);
  });

  it("the server's list decides which alarms fire; one that the console does not know is shown without a link", () => {
    const added = { ...state, name: "backup_age", detail: "The last backup is 3 days old." };
    const quiet = { ...state, name: "failed_deletions", firing: false, detail: null };
    expect(alarmsOf({ ...healthy, states: [state, quiet, added] })).toMatchObject([
      { text: state.detail, scope: "workspace", link: { to: "/deletions", search: { status: "running" } } },
      { text: "The last backup is 3 days old.", scope: "workspace", link: undefined },
    ]);
  });
});
