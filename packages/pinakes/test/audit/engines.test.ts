/** The essentials of audits on the engines of servers: PostgreSQL and DynamoDB, each with a folder of objects. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { settled } from "../knowledge/support/test-pinakes.ts";
import { useServers } from "../support/servers.ts";
import { Audited, dayMs, hourMs } from "./support/audited.ts";

const { postgres, dynamo } = useServers();

describe.each([
  ["PostgreSQL", postgres],
  ["DynamoDB", () => dynamo("audit")],
])("an audit on %s", (_, address) => {
  it("R-TG-54 R-TG-70 finds each kind of damage, repairs it, then finds nothing, and leaves intact data unchanged", async () => {
    await using world = await Audited.open("elsewhere", { items: address() });
    const { items, objects, vectors, triples } = world.test.pinakes;
    const { scope } = world;
    const bystander = await world.place("Bystander");
    const place = await world.place();
    // Indexes may lag; then the repository is not listed yet.
    await expect.poll(async () => (await world.fsck()).checked.repositories).toBe(2);
    expect(await world.kinds({ deep: true })).toEqual([]);
    const [untouched, before] = [await world.state(bystander), await world.state(place)];
    const partition = [place.repository, place.incarnation];
    const incr = (path: string) => [{ op: "incr" as const, path, value: 3 }];
    await objects.put(scope, `knowledge/${place.incarnation}/${randomUUID()}/1/content`, Buffer.from("stray"));
    await objects.delete(scope, [`knowledge/${place.incarnation}/${place.first}/1/text`]);
    const rows = await Array.fromAsync(vectors.rows(scope, `${place.incarnation}.1`));
    await vectors.append(scope, `${place.incarnation}.1`, {
      upsert: [{ id: `${randomUUID()}.1.0`, vector: rows[0]?.vector as Float32Array }],
    });
    const source = { source: `${randomUUID()}.1.1`, part: 0 };
    await triples.write(scope, place.incarnation, {
      insert: [{ s: "<urn:left>", p: "<urn:p>", o: "<urn:o>", g: "" }],
      source,
    });
    await items.write(scope, "documents", partition, { op: "patch", id: "stats", patch: incr("/document_count") });
    await items.write(scope, "collections", [place.repository], {
      op: "patch",
      id: "count",
      patch: incr("/collections"),
    });
    const unknown = randomUUID();
    await objects.put(scope, `knowledge/${unknown}/d/1/content`, Buffer.from("stray"));
    expect(await world.fsck()).toMatchObject({ waiting: 2 });
    world.time.shift += hourMs;
    const planted = [
      "counter_off",
      "counter_off",
      "object_without_record",
      "record_without_object",
      "triples_without_support_source",
      "vectors_without_document",
    ];
    expect(await world.kinds()).toEqual([...planted, "unknown_incarnation"].toSorted());
    expect(await world.kinds({ repair: true })).toEqual(
      [...planted.map((kind) => `${kind} repaired`), "unknown_incarnation"].toSorted(),
    );
    world.time.shift += dayMs;
    expect(await world.kinds({ repair: true })).toEqual(["unknown_incarnation repaired"]);
    expect(await world.kinds({ deep: true })).toEqual([]);
    expect([await world.state(bystander), await world.state(place)]).toEqual([untouched, before]);
    await vectors.append(scope, `${place.incarnation}.1`, {
      delete: rows.map(({ id }) => id).filter((id) => id.startsWith(place.first)),
    });
    expect(await world.kinds({ repair: true })).toEqual(["document_without_vectors repaired"]);
    expect(await settled(place, place.first)).toMatchObject({ status: "indexed" });
    expect(await world.kinds({ deep: true })).toEqual([]);
  });
});
