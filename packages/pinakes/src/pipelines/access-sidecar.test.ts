import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { admin, Bench, closeShared } from "./test-pipelines.ts";

afterAll(closeShared);

const sidecar = "salaries.txt.access.json";

describe("the sidecar file of a pipeline's file", () => {
  it("sets the access of its document, is no document itself, and a change of it is one of the document", async () => {
    await using bench = await Bench.open();
    await bench.write({
      "open.txt": "The cafeteria opens at noon.",
      "salaries.txt": "Salaries rise in May.",
      [sidecar]: JSON.stringify({ allowed_groups: ["hr"], sensitivity: ["personal"] }),
    });
    const id = await bench.pipeline({});
    expect((await bench.run(id)).result).toMatchObject({ added: 2, failed: 0, skipped: 0 });
    const access = async () => {
      const found = (await bench.documents()).find(({ name }) => name === "salaries.txt");
      return { groups: found?.allowed_groups, users: found?.allowed_users, labels: found?.sensitivity };
    };
    expect((await bench.documents()).map(({ name }) => name).toSorted()).toEqual(["open.txt", "salaries.txt"]);
    expect(await access()).toEqual({ groups: ["hr"], users: null, labels: ["personal"] });

    await bench.write({ [sidecar]: JSON.stringify({ allowed_groups: null, allowed_users: ["ann"] }) });
    await bench.run(id);
    expect(await access()).toEqual({ groups: null, users: ["ann"], labels: ["personal"] });
    expect((await bench.run(id)).result).toMatchObject({ added: 0, replaced: 0 });

    // Without its sidecar it does not open to others.
    await rm(join(bench.folder, sidecar));
    await bench.run(id);
    expect(await access()).toEqual({ groups: null, users: ["ann"], labels: ["personal"] });
  });

  it("while it is wrong, or names groups outside the collection's, its file is not fetched, and the run says why", async () => {
    await using bench = await Bench.open();
    await bench.knowledge.collections.update(admin, "r", "c", { allowed_groups: ["staff"] });
    await bench.write({
      "a.txt": "Text of a.",
      "a.txt.access.json": "{",
      "b.txt": "Text of b.",
      "b.txt.access.json": JSON.stringify({ allowed_groups: ["strangers"] }),
      "c.txt": "Text of c.",
      "c.txt.access.json": JSON.stringify({ groups: ["staff"] }),
      "d.txt": "Text of d.",
      "d.txt.access.json": " ".repeat(65_537),
      "e.txt": "Text of e.",
      "e.txt.access.json": JSON.stringify({ allowed_groups: ["staff"] }).padEnd(65_536),
    });
    const id = await bench.pipeline({});
    const { result } = await bench.run(id);
    expect(result).toMatchObject({ added: 1, failed: 4 });
    expect((await bench.documents()).map(({ name }) => name)).toEqual(["e.txt"]);
    const reasons = JSON.stringify(result);
    for (const part of [
      "not JSON",
      'strangers\\" may not use collection',
      '\\"groups\\" is not known',
      "more than 65536 bytes",
    ])
      expect(reasons).toContain(part);
  });
});
