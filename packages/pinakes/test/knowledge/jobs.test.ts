/** Several files in one operation, and jobs with the outcome of each. */
import { describe, expect, it } from "vitest";
import { body, engines, openTestPinakes, settled, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(engines)("jobs on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));

  const files = {
    "a.txt": "words about otters",
    "b.txt": "words about herons",
    "bad.pdf": "%PDF-1.4 nonsense",
    "no.exe": "MZ",
    "a2.txt": "",
    "A.txt": "again",
  };

  /** Each file, with its document or the reason it was refused. */
  async function send(place: Place): Promise<{ jobId: string; results: Record<string, string> }> {
    const { knowledge, caller, repository, collection } = place;
    const { job_id, result } = await knowledge.documents.uploadMany(caller, repository, collection, async (take) => {
      const results: Record<string, string> = {};
      for (const [name, text] of Object.entries(files)) {
        results[name] = await take({ name, body: body(text) }).then(
          ({ document_id }) => document_id,
          ({ code }: { code: string }) => code,
        );
      }
      return results;
    });
    return { jobId: job_id as string, results: result };
  }

  async function group(name: string): Promise<Place> {
    const caller = test.as("ann", { groups: ["g"] });
    const repository = `jobs-${name}`;
    await test.knowledge.repositories.create(test.admin, { repository_id: repository, allowed_groups: ["g"] });
    const { collection_id } = await test.knowledge.collections.create(test.admin, repository, { name: "Papers" });
    return { knowledge: test.knowledge, caller, repository, collection: collection_id };
  }

  it("R-KB-43 R-KB-46 R-LISA-78 many files in one operation, a result for each; the job has the outcome of every document, and retries only the failed ones", async () => {
    const place = await group("many");
    const { jobId, results } = await send(place);
    const uuid = /^[0-9a-f-]{36}$/;
    expect(results).toEqual({
      "a.txt": expect.stringMatching(uuid),
      "b.txt": expect.stringMatching(uuid),
      "bad.pdf": expect.stringMatching(uuid),
      "no.exe": "INVALID",
      "a2.txt": "INVALID",
      "A.txt": "CONFLICT",
    });
    const ids = ["a.txt", "b.txt", "bad.pdf"].map((name) => results[name] as string);
    for (const id of ids) expect((await settled(place, id)).job_id).toBe(jobId);
    const statuses = async () => {
      const { result } = await place.knowledge.jobs.get(place.caller, jobId);
      return (result as unknown as { documents: { document_id: string; status: string; error: string | null }[] })
        .documents;
    };
    expect(await statuses()).toMatchObject([
      { document_id: ids[0], status: "indexed", error: null },
      { document_id: ids[1], status: "indexed", error: null },
      { document_id: ids[2], status: "failed", error: expect.stringContaining("damaged") },
    ]);
    const before = await place.knowledge.documents.get(
      place.caller,
      place.repository,
      place.collection,
      ids[0] as string,
    );
    await place.knowledge.jobs.retry(place.caller, jobId);
    expect(await settled(place, ids[2] as string)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("damaged"),
    });
    expect(
      await place.knowledge.documents.get(place.caller, place.repository, place.collection, ids[0] as string),
    ).toEqual(before);
    const { items } = await place.knowledge.documents.list(place.caller, place.repository, place.collection);
    expect(items).toHaveLength(3);
  });

  it("R-LISA-72 who started a job and lost the group since cannot see it any more, except that its collection was purged", async () => {
    const place = await group("lost");
    const { knowledge, repository } = place;
    const { jobId } = await send(place);
    const lost = test.as("ann");
    await expect(knowledge.jobs.get(lost, jobId)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(knowledge.jobs.retry(lost, jobId)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await knowledge.jobs.list(lost)).items.filter(({ job_id }) => job_id === jobId)).toEqual([]);
    const other = test.as("ben", { groups: ["g"] });
    expect((await knowledge.jobs.get(other, jobId)).kind).toBe("ingest");
    await expect(knowledge.jobs.retry(other, jobId)).rejects.toMatchObject({ code: "FORBIDDEN" });
    const { collection_id } = await knowledge.collections.create(place.caller, repository, { name: "Short-lived" });
    const may = test.as("ann", { groups: ["g"], permissions: ["purge"] });
    await expect(
      knowledge.collections.delete(place.caller, repository, collection_id, { purge: true, confirm: collection_id }),
    ).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    const purge = await knowledge.collections.delete(may, repository, collection_id, {
      purge: true,
      confirm: collection_id,
    });
    await expect.poll(async () => (await knowledge.jobs.get(place.caller, purge.job_id)).status).toBe("succeeded");
  });
});
