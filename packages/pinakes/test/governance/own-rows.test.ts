/** Rows with vectors that callers embedded themselves, which only their metadata connects with a subject. */
import { strFromU8, unzipSync } from "fflate";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { newPlace, openTestPinakes, type Place, type TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";

let test: TestPinakes;
let place: Place;
beforeEach(async () => {
  test = await openTestPinakes("memory", { erasureFenceMs: 0 });
  place = await newPlace(test);
  const rowOf = (id: string, user_id: string) => ({ id, vector: [1, 2], text: `of ${user_id}`, metadata: { user_id } });
  const items = [rowOf("a", "erin"), rowOf("b", "otto"), rowOf("c", "erin")];
  await test.knowledge.rows.upsert(test.admin, place.repository, place.collection, { items });
});
afterEach(() => test[Symbol.asyncDispose]());

const erin = { type: "user", id: "erin" } as const;
const erasures = () => test.pinakes.governance.erasures;
const found = async () => {
  const query = { vector: [1, 2], limit: 10 };
  const { hits } = await test.knowledge.rows.query(test.admin, place.repository, place.collection, query);
  return hits.map(({ id }) => id).toSorted();
};
const vectorFiles = (stores: readonly { readonly store: string }[]) =>
  stores.find(({ store }) => store === "vector files");

async function erase() {
  const { erasure_id } = await erasures().request(test.admin, { subject: erin });
  return erasures().wait(test.admin, erasure_id);
}

it("R-AGT-64 rows of the user in a collection without documents of the user are counted, erased, and those of others stay", async () => {
  const counted = await erasures().request(test.admin, { subject: erin, dry_run: true });
  expect(vectorFiles(counted.stores)).toMatchObject({ found: 2 });
  expect(await found()).toEqual(["a", "b", "c"]);
  expect(await erase()).toMatchObject({ state: "done_live" });
  expect(await found()).toEqual(["b"]);
  await failure(erasures().request(test.admin, { subject: { type: "user", id: "nobody" } }), "NOT_FOUND");
});

it("R-AGT-64 in the trash, too: a restored collection has only rows of others, and verify counts what came back", async () => {
  await test.knowledge.collections.delete(test.admin, place.repository, place.collection);
  const done = await erase();
  expect(done).toMatchObject({ state: "done_live" });
  await failure(test.knowledge.collections.get(test.admin, place.repository, place.collection), "NOT_FOUND");
  await test.knowledge.collections.restore(test.admin, place.repository, place.collection);
  await until(async () => (await found()).length > 0);
  expect(await found()).toEqual(["b"]);
  const items = [{ id: "again", vector: [2, 1], metadata: { user_id: "erin" } }];
  await test.knowledge.rows.upsert(test.admin, place.repository, place.collection, { items });
  expect(await erasures().verify(test.admin, done.erasure_id, erin)).toMatchObject({ remaining: 1 });
});

it("R-AGT-69 a hold on their collection keeps them until its release", async () => {
  const { repository: repository_id, collection: collection_id } = place;
  const { holds } = test.pinakes.governance;
  const scope = { type: "collection", repository_id, collection_id } as const;
  const { hold_id } = await holds.create(test.admin, { scope, reason: "case 7" });
  const held = await erase();
  expect(held).toMatchObject({ state: "held", holds: [hold_id] });
  expect(vectorFiles(held.stores)).toMatchObject({ held: 2 });
  expect(await found()).toEqual(["a", "b", "c"]);
  await holds.release(test.admin, hold_id);
  expect(await erasures().wait(test.admin, held.erasure_id)).toMatchObject({ state: "done_live" });
  expect(await found()).toEqual(["b"]);
});

it("R-AGT-71 an export has them with their vectors, and not those of others", async () => {
  const { subjectExports } = test.pinakes.governance;
  const { export_id } = await subjectExports.request(test.admin, { subject: erin });
  const ready = await until(async () => {
    const now = await subjectExports.get(test.admin, export_id);
    return now.state === "ready" ? now : undefined;
  });
  expect(ready.rows).toContainEqual({ store: "vectors", own: 2, mentions: 0 });
  const { body } = await subjectExports.part(test.admin, export_id, 1);
  const files = unzipSync(Buffer.concat(await Array.fromAsync(body)));
  const [name = ""] = Object.keys(files).filter((one) => one.startsWith("vectors/"));
  expect(name).toContain(`vectors/${place.repository}/${place.collection}/`);
  const lines = strFromU8(files[name] as Uint8Array)
    .trimEnd()
    .split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    ["a", "c"].map((id) => ({ id, text: "of erin", metadata: { user_id: "erin" }, vector: [1, 2] })),
  );
});
