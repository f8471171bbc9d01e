/** One scenario through the graph of documents on the engines of servers. */
import { describe, expect, it } from "vitest";
import { newPlace, openTestPinakes, uploaded } from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { useServers } from "../support/servers.ts";
import { actualSupports, expectedSupports } from "./support/graph-oracle.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres, dynamo } = useServers();

describe.each([
  ["PostgreSQL", postgres],
  ["DynamoDB", () => dynamo("graph")],
])("the graph of documents on %s", (_, address) => {
  const test = forAllTests(() => openTestPinakes("elsewhere", { items: address() }));

  it("R-TG-128 R-TG-129 R-TG-130 R-TG-131 documents are added, reached by triples, changed and removed, and the graph follows", async () => {
    const place = await newPlace(test);
    const { knowledge, pinakes } = test;
    await knowledge.collections.update(place.caller, place.repository, place.collection, {
      graph: { extract: "structured", key: "name" },
    });
    const first = await uploaded(place, "a.csv", "name,manager\nAda Lovelace,Grace Hopper\nBob,Zed\n");
    await uploaded(
      place,
      "b.json",
      JSON.stringify([
        { name: "Grace Hopper", office: "Building 7" },
        { name: "Bob", manager: "Zed" },
      ]),
    );
    const sound = async () => {
      await until(async () => {
        const [actual, expected] = await Promise.all([
          actualSupports(pinakes, place),
          expectedSupports(pinakes, place),
        ]);
        return actual.join("\n") === expected.join("\n") ? true : undefined;
      });
      return actualSupports(pinakes, place);
    };
    await sound();
    const collections = [{ repository: place.repository, collection: place.collection }];
    const reached = async () => {
      const { hits } = await knowledge.search.run(place.caller, {
        query: "Ada Lovelace",
        mode: "graph",
        graph: { hops: 2 },
        collections,
      });
      return hits.map(({ citation }) => citation.filename);
    };
    await expect.poll(reached).toEqual(["a.csv", "b.json"]);
    await uploaded(place, "a.csv", "name,manager\nAda Lovelace,Zed\nBob,Zed\n", { replace: true });
    expect((await sound()).join("\n")).not.toContain('"Grace Hopper" ← ' + first.document_id);
    await knowledge.documents.delete(place.caller, place.repository, place.collection, first.document_id);
    const left = (await sound()).join("\n");
    expect(left).toContain("p/manager");
    expect(left).not.toContain("lovelace");
    await expect.poll(reached).toEqual([]);
  });
});
