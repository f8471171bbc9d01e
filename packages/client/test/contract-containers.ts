/** Containers: the part of the contract that is about documents of any shape. */
import { expect, it } from "vitest";
import { ConflictError, NotFoundError, PreconditionFailedError, type JsonObject } from "../src/index.ts";
import { fresh, type Context } from "./support/context.ts";

interface Note extends JsonObject {
  readonly id: string;
  readonly owner: string;
  readonly n: number;
}

export function containerTests({ client }: Context): void {
  it("a container is typed: its documents, queries and changes", async () => {
    const notes = client().container<Note>(fresh("notes"));
    await notes.define({ partition_key: "/owner", indexes: { by_n: { partition: ["/owner"], sort: ["/n"] } } });
    await notes.define({ partition_key: "/owner", indexes: { by_n: { partition: ["/owner"], sort: ["/n"] } } });
    await expect(notes.define({ partition_key: "/owner" }, { ifNoneMatch: "*" })).rejects.toThrow(
      PreconditionFailedError,
    );
    const made = await notes.create({ id: "n0", owner: "o", n: 0 });
    await expect(notes.create({ id: "n0", owner: "o", n: 0 })).rejects.toThrow(ConflictError);
    expect(await notes.find("o", "n0")).toEqual(made);
    expect(await notes.find("o", "none")).toBeUndefined();
    await notes.upsert({ id: "n1", owner: "o", n: 1 });
    await notes.replace({ ...made, n: 10 }, { ifMatch: made._etag });
    await notes.patch("o", "n1", [{ op: "incr", path: "/n", value: 5 }]);
    await notes.batch(
      "o",
      Array.from({ length: 5 }, (_, i) => ({
        op: "create" as const,
        document: { id: `b${i}`, owner: "o", n: 100 + i },
      })),
    );
    const bulk = await notes.bulk([
      { op: "create", document: { id: "x", owner: "p", n: 1 } },
      { op: "delete", id: "b4", pk: "o" },
    ]);
    expect([bulk.succeeded, bulk.failed]).toEqual([2, 0]);
    const numbers = async (query: Parameters<typeof notes.query>[0]): Promise<number[]> =>
      (await notes.query(query).all()).map(({ n }) => n);
    await expect
      .poll(() => numbers({ index: "by_n", equals: { owner: "o" }, limit: 2 }))
      .toEqual([6, 10, 100, 101, 102, 103]);
    expect(await numbers({ equals: { owner: "o" }, range: { prefix: "b" }, limit: 3 })).toEqual([100, 101, 102, 103]);
    await expect
      .poll(() => notes.query<number>("SELECT VALUE c.n FROM c WHERE c.n >= 102 ORDER BY c.n").all())
      .toEqual([102, 103]);
    expect(
      await notes.readMany([
        { pk: "o", id: "n1" },
        { pk: "o", id: "none" },
      ]),
    ).toMatchObject([{ n: 6 }, null]);
    await notes.delete("o", "n1");
    expect((await notes.deletePartition("o")).deleted).toBe(5);
    await notes.drop();
    await expect(notes.info()).rejects.toThrow(NotFoundError);
  });

  it("changes come in order, go on from a cursor, and end with the signal", async () => {
    const notes = client().container<Note>(fresh("followed"));
    await notes.define({ partition_key: "/owner" });
    for (let n = 0; n < 3; n += 1) await notes.create({ id: `n${n}`, owner: "o", n });
    const seen: unknown[] = [];
    let cursor: string | undefined;
    for await (const change of notes.changes({ mode: "all", pollMs: 10 })) {
      seen.push([change.kind, change.id, change.document?.n]);
      ({ cursor } = change);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([
      ["put", "n0", 0],
      ["put", "n1", 1],
      ["put", "n2", 2],
    ]);
    const stop = new AbortController();
    const later: unknown[] = [];
    const following = (async () => {
      for await (const change of notes.changes({ since: cursor, mode: "all", pollMs: 10, signal: stop.signal })) {
        later.push([change.kind, change.id]);
        if (later.length === 2) stop.abort();
      }
    })();
    await notes.create({ id: "n3", owner: "o", n: 3 });
    await notes.delete("o", "n0");
    await following;
    expect(later).toEqual([
      ["put", "n3"],
      ["delete", "n0"],
    ]);
  });

  it("partition keys of every kind are the same there and back", async () => {
    const container = client().container<JsonObject & { id: string }>(fresh("keys"));
    await container.define({ partition_key: ["/a", "/b"] });
    await container.create({ id: "x y%:&+ä", a: 5, b: "[text" });
    expect(await container.read([5, "[text"], "x y%:&+ä")).toMatchObject({ a: 5, b: "[text" });
    const single = client().container<JsonObject & { id: string }>(fresh("keys"));
    await single.define({ partition_key: "/p" });
    for (const p of [5, "5", true, "true", "[5]", 'ä"/?#']) {
      await single.create({ id: "i", p });
      expect((await single.read(p, "i"))["p"]).toBe(p);
    }
    expect(await single.deletePartition("[5]")).toEqual({ deleted: 1 });
    await expect(single.read("[5]", "i")).rejects.toThrow(NotFoundError);
  });
}
