import type { Job } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import type { ServerEvent } from "../../api/events.ts";
import { mayAct } from "../../api/jobs.ts";
import { withItem } from "../../api/pages-cache.ts";
import { collectionName } from "../../api/collection-names.ts";
import { matchesJob } from "./find-jobs.ts";
import { jobsOf } from "./use-live-jobs.ts";

const job = (job_id: string, more: Partial<Job> = {}): Job => ({
  job_id,
  kind: "ingest",
  status: "succeeded",
  progress: { done: 1, total: 1 },
  attempts: 1,
  error: null,
  result: null,
  repository_id: "kb",
  collection_id: "papers",
  created_by: "ann",
  created_at: "2030-01-01T00:00:00Z",
  updated_at: "2030-01-01T00:00:00Z",
  ...more,
});

describe("which jobs an event is about", () => {
  const event = (type: ServerEvent["type"], resource: ServerEvent["resource"]): ServerEvent => ({
    id: "1",
    type,
    resource,
    data: {},
    at: "",
  });
  const place = { repository_id: "kb", collection_id: "papers", document_id: "d1" };

  it("the one that it names; of a document, the uploads of its collection that may hold it", () => {
    const known = [
      job("running", { status: "running" }),
      job("mine", { result: { documents: [{ document_id: "d1" }] } }),
      job("other", { result: { documents: [{ document_id: "d2" }] } }),
      job("elsewhere", { status: "running", collection_id: "notes" }),
      job("no upload", { status: "running", kind: "reindex" }),
    ];
    expect(jobsOf(event("job.done", { job_id: "new" }), known)).toEqual(["new"]);
    expect(jobsOf(event("document.status", place), known)).toEqual(["running", "mine"]);
    expect(jobsOf(event("collection.status", place), known)).toEqual([]);
  });
});

describe("a row that changed", () => {
  const at = (day: number, more: Partial<Job> = {}) => ({ created_at: `2030-01-0${day}T00:00:00.000Z`, ...more });
  const data = {
    pages: [
      { items: [job("a", at(6)), job("b", at(4))], next_cursor: "x" },
      { items: [job("c", at(2))], next_cursor: "y" },
    ],
    pageParams: [],
  };
  const put = (into: typeof data, one: Job) =>
    withItem(into, one, ({ job_id }) => job_id).pages.map(({ items }) =>
      items.map(({ job_id, attempts }) => `${job_id}${attempts}`),
    );

  it("takes its place in its page; a new one comes first, and nothing twice", () => {
    expect(put(data, job("c", at(2, { attempts: 2 })))).toEqual([["a1", "b1"], ["c2"]]);
    expect(put(data, job("d", at(7)))).toEqual([["d1", "a1", "b1"], ["c1"]]);
    expect(put(data, job("d", at(6)))).toEqual([["d1", "a1", "b1"], ["c1"]]);
    expect(put({ pages: [{ items: [], next_cursor: "" }], pageParams: [] }, job("d", at(7)))).toEqual([["d1"]]);
  });

  it("that the pages do not have is put where it belongs; one below them is left to its own page", () => {
    expect(put(data, job("d", at(5)))).toEqual([["a1", "d1", "b1"], ["c1"]]);
    expect(put(data, job("d", at(3)))).toEqual([
      ["a1", "b1"],
      ["d1", "c1"],
    ]);
    expect(put(data, job("d", at(1)))).toEqual([["a1", "b1"], ["c1"]]);
  });
});

it("a filter looks at status, kind, and the words of a job in any case", () => {
  const failed = job("j1", { status: "failed", error: "The PDF is damaged" });
  expect(matchesJob(failed, {})).toBe(true);
  expect(matchesJob(failed, { status: "failed", kind: "ingest", q: "pdf IS" })).toBe(true);
  expect(matchesJob(failed, { status: "running" })).toBe(false);
  expect(matchesJob(failed, { kind: "fsck" })).toBe(false);
  expect(matchesJob(failed, { q: "nothing" })).toBe(false);
  const nameOf = collectionName([], [{ repository_id: "kb", collection_id: "papers", name: "Good reads" }]);
  expect([matchesJob(failed, { q: "good" }), matchesJob(failed, { q: "good", nameOf })]).toEqual([false, true]);
});

it("a place is told by the names of its parts; a personal repository of somebody else, and what is gone, by what is left to say", () => {
  const own = `personal-${"0".repeat(32)}`;
  const nameOf = collectionName(
    [{ repository_id: own, name: "Personal" }],
    [{ repository_id: own, collection_id: "c1", name: "My documents" }],
  );
  const told = (repository_id: string, collection_id: string) => nameOf({ repository_id, collection_id });
  expect([told(own, "c1"), told(own, "gone"), told(own, "")]).toEqual([
    "Personal / My documents",
    "Personal / gone",
    "Personal",
  ]);
  expect([told(`personal-4813494d${"1".repeat(24)}`, "c1"), told("kb", "c1")]).toEqual([
    "Personal 4813494d / c1",
    "kb / c1",
  ]);
});

it("what may be tried again or cancelled is what the server takes", () => {
  expect(mayAct(job("a", { status: "failed" }), "retry")).toBe(true);
  expect(mayAct(job("a", { kind: "reindex", status: "cancelled" }), "retry")).toBe(true);
  expect(mayAct(job("a"), "retry")).toBe(false);
  expect(mayAct(job("a", { kind: "reindex", status: "running" }), "cancel")).toBe(true);
  expect(mayAct(job("a", { status: "running" }), "cancel")).toBe(false);
  expect(mayAct(job("a", { kind: "purge", status: "running" }), "cancel")).toBe(false);
});
