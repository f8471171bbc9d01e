/** The access of a document goes where the document goes: through an export and import, and without a user who is erased. */
import { describe, expect, it } from "vitest";
import { exported, filesReader } from "../../src/transfer/test-transfer.ts";
import { openTestPinakes, settled, uploaded } from "../knowledge/support/test-pinakes.ts";
import { differences } from "./support/compare.ts";
import { countFaces, documentFaces, graphFaces, searchFaces } from "./support/faces.ts";
import { newWorld } from "./support/world.ts";

describe("the access of documents", () => {
  it("comes back from an export, and holds from the first call after the import", async () => {
    await using from = await openTestPinakes("sqlite");
    await using to = await openTestPinakes("sqlite");
    const world = await newWorld(from, { seed: 31, people: 4, papers: 6 });
    const files = await exported(from.knowledge, from.admin);
    const report = await to.knowledge.transfer.import(to.admin, filesReader(files));
    expect(report.problems ?? []).toEqual([]);
    const place = { ...world.place, knowledge: to.knowledge, caller: to.admin };
    const there = { ...world, place, as: (person: Parameters<typeof world.as>[0]) => to.as(person.id, person) };
    for (const { document_id } of world.papers) await settled(place, document_id);
    const { jobs: _, answers: __, ...searches } = searchFaces;
    expect(await differences(there, { ...documentFaces, ...searches, ...graphFaces, ...countFaces })).toEqual([]);
    const again = await exported(to.knowledge, to.admin, { objects: false });
    const table = "tables/LisaRagDocumentTable.jsonl";
    expect(again[table]?.toString("utf8")).toBe(files[table]?.toString("utf8"));
  });

  it("loses the users that are erased, and opens to nobody else by it", async () => {
    await using test = await openTestPinakes("sqlite");
    const { place } = await newWorld(test, { seed: 37, people: 2, papers: 0 });
    const document = await uploaded(place, "hers.txt", "For Erin only.", { allowed_users: ["erin"] });
    const both = await uploaded(place, "theirs.txt", "For both.", { allowed_users: ["erin", "otto"] });
    const erasures = test.pinakes.governance.erasures;
    const { erasure_id } = await erasures.request(test.admin, { subject: { type: "user", id: "erin" } });
    expect(await erasures.wait(test.admin, erasure_id)).toMatchObject({ state: "done_live" });
    const at = [place.repository, place.collection] as const;
    const read = async (id: string) => (await test.knowledge.documents.get(test.admin, ...at, id)).allowed_users;
    expect([await read(document.document_id), await read(both.document_id)]).toEqual([[], ["otto"]]);
    for (const user of ["erin", "otto", "ann"]) {
      const { items } = await test.knowledge.documents.list(test.as(user, { groups: ["staff"] }), ...at, {});
      expect({ user, seen: items.map(({ name }) => name) }).toEqual({
        user,
        seen: user === "otto" ? ["theirs.txt"] : [],
      });
    }
  });
});
