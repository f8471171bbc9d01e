/** What is rejected, and how: the code, the field by its name, and each limit at its value and one past it. */
import { describe, expect, it } from "vitest";
import type { Filter } from "../../src/domain/filter.ts";
import { vectorLimits } from "../../src/vectors/limits.ts";
import type { AppendInput } from "../../src/vectors/log/append.ts";
import type { QueryInput } from "../../src/vectors/read/query-input.ts";
import { itemIds, vectorsContainer } from "../../src/vectors/store/records.ts";
import { Machine, scope, type Process } from "./support/machine.ts";
import { codeOf, refusalOf } from "./support/state.ts";

async function fresh(dims = 2): Promise<Process> {
  const machine = await Machine.open();
  const process = machine.process({ cache: true });
  await process.vectors.create(scope, "c", { dims });
  return process;
}

const limits = vectorLimits;

describe("vectors: what an append rejects", () => {
  const good = { id: "a", vector: [1, 1] };
  const nan = Number.NaN;
  const refused: Record<string, [input: unknown, code: string, says: string]> = {
    nothing: [{}, "INVALID", "nothing to append"],
    "empty lists": [{ upsert: [], patch: [], delete: [] }, "INVALID", "nothing to append"],
    "no list": [{ upsert: { id: "a" } }, "INVALID", "upsert"],
    "a row that is none": [{ upsert: [null] }, "INVALID", "upsert[0]"],
    "too few dimensions": [
      { upsert: [{ ...good, vector: [1] }] },
      "INVALID",
      "has 1 numbers; this collection's vectors have 2",
    ],
    "too many dimensions": [{ upsert: [{ ...good, vector: [1, 2, 3] }] }, "INVALID", "has 3 numbers"],
    "no vector": [{ upsert: [{ id: "a" }] }, "INVALID", "upsert[0].vector"],
    "a vector of text": [{ upsert: [{ ...good, vector: "12" }] }, "INVALID", "upsert[0].vector"],
    "a vector with text": [{ upsert: [{ ...good, vector: [1, "2"] }] }, "INVALID", "upsert[0].vector[1]"],
    "a vector with a hole": [
      { upsert: [{ ...good, vector: Object.assign([], { length: 2, 0: 1 }) }] },
      "INVALID",
      "upsert[0].vector[1]",
    ],
    NaN: [
      { upsert: [good, { id: "b", vector: [1, nan] }] },
      "INVALID",
      "upsert[1].vector[1]: must be a number between -1e15 and 1e15, got NaN",
    ],
    "NaN in a Float32Array": [
      { upsert: [{ id: "b", vector: new Float32Array([nan, 1]) }] },
      "INVALID",
      "upsert[0].vector[0]",
    ],
    Infinity: [{ upsert: [{ ...good, vector: [Infinity, 1] }] }, "INVALID", "got Infinity"],
    "-Infinity": [{ upsert: [{ ...good, vector: [-Infinity, 1] }] }, "INVALID", "got -Infinity"],
    "what no float holds": [{ upsert: [{ ...good, vector: [1e39, 1] }] }, "INVALID", "vector[0]"],
    "what overflows when squared": [{ upsert: [{ ...good, vector: [1.1e15, 1] }] }, "INVALID", "vector[0]"],
    "no id": [{ upsert: [{ vector: [1, 1] }] }, "INVALID", "upsert[0].id"],
    "an empty id": [{ upsert: [{ ...good, id: "" }] }, "INVALID", "upsert[0].id"],
    "a number as id": [{ upsert: [{ ...good, id: 7 }] }, "INVALID", "upsert[0].id"],
    "an id with NUL": [{ delete: ["a\0b"] }, "INVALID", "delete[0]"],
    "an id with half a character": [{ delete: ["\ud800"] }, "INVALID", "delete[0]"],
    "text that is none": [{ upsert: [{ ...good, text: 5 }] }, "INVALID", "upsert[0].text"],
    "text with half a character": [{ upsert: [{ ...good, text: "\udc00" }] }, "INVALID", "upsert[0].text"],
    "metadata that is a list": [{ upsert: [{ ...good, metadata: [] }] }, "INVALID", "upsert[0].metadata"],
    "metadata with NaN": [{ upsert: [{ ...good, metadata: { n: nan } }] }, "INVALID", "upsert[0].metadata"],
    "metadata with a date": [{ upsert: [{ ...good, metadata: { at: new Date() } }] }, "INVALID", "upsert[0].metadata"],
    "a patch without metadata": [{ patch: [{ id: "a" }] }, "INVALID", "patch[0].metadata"],
    "a patch of nothing": [{ patch: [undefined] }, "INVALID", "patch[0]"],
    "an empty delta id": [{ deltaId: "", delete: ["a"] }, "INVALID", "deltaId"],
    "a delta id with a slash": [{ deltaId: "a/b", delete: ["a"] }, "INVALID", "deltaId"],
    "a delta id that is a number": [{ deltaId: 1, delete: ["a"] }, "INVALID", "deltaId"],
  };
  it("every kind of invalid row, with its location in the message, and nothing is written", async () => {
    const { vectors, machine } = await fresh();
    const keys = await machine.keys();
    for (const [what, [input, code, says]] of Object.entries(refused)) {
      expect(await refusalOf(vectors.append(scope, "c", input as AppendInput)), what).toMatchObject({
        code,
        message: expect.stringContaining(says) as string,
      });
    }
    expect(await vectors.stats(scope, "c")).toMatchObject({ lastSeq: 0 });
    expect(await machine.keys()).toEqual(keys);
    await vectors.append(scope, "c", {
      upsert: [
        { id: "huge", vector: [1e15, -1e15] },
        { id: "tiny", vector: [1e-30, 0] },
      ],
    });
    expect(await vectors.count(scope, "c")).toBe(2);
    const scores = async (vector: number[]) =>
      (await vectors.query(scope, "c", { vector })).hits.map(({ id, score }) => [id, Math.round(score * 100) / 100]);
    expect(await scores([1e15, -1e15])).toEqual([
      ["huge", 1],
      ["tiny", 0],
    ]);
    // Too short to have a direction.
    for (const vector of [
      [1e-40, 0],
      [1e-30, 1e-30],
      [0, 0],
    ])
      for (const [, score] of await scores(vector)) expect(score).toBe(0);
  });

  it("R-CMP-03 duplicates are reported and the last one wins; an id that was used with other content is 409", async () => {
    const { vectors } = await fresh();
    const sent = await vectors.append(scope, "c", {
      deltaId: "d",
      upsert: [good, { id: "a", vector: [2, 2] }, { id: "b", vector: [3, 3] }],
    });
    expect(sent.duplicates).toEqual(["a"]);
    expect((await vectors.get(scope, "c", ["a"]))[0]?.vector).toEqual(new Float32Array([2, 2]));
    expect(await refusalOf(vectors.append(scope, "c", { deltaId: "d", upsert: [good] }))).toMatchObject({
      code: "CONFLICT",
      status: 409,
    });
  });
});

describe("vectors: limits, at the value and one past it", () => {
  it("ids, texts and metadata", async () => {
    const { vectors } = await fresh();
    const vector = [1, 1];
    const umlauts = "ü".repeat(limits.rowIdBytesMax / 2);
    await vectors.append(scope, "c", { upsert: [{ id: umlauts, vector }], delete: ["x".repeat(limits.rowIdBytesMax)] });
    expect(await codeOf(vectors.append(scope, "c", { delete: [`${umlauts}x`] }))).toBe("INVALID");
    await vectors.append(scope, "c", { upsert: [{ id: "t", vector, text: "x".repeat(limits.rowTextBytesMax) }] });
    expect(
      await codeOf(
        vectors.append(scope, "c", { upsert: [{ id: "t", vector, text: "x".repeat(limits.rowTextBytesMax + 1) }] }),
      ),
    ).toBe("LIMIT_EXCEEDED");
    const note = (bytes: number) => ({
      id: "m",
      vector,
      metadata: { n: "x".repeat(bytes - JSON.stringify({ n: "" }).length) },
    });
    await vectors.append(scope, "c", { upsert: [note(limits.rowMetadataBytesMax)] });
    expect(await codeOf(vectors.append(scope, "c", { upsert: [note(limits.rowMetadataBytesMax + 1)] }))).toBe(
      "LIMIT_EXCEEDED",
    );
    await vectors.append(scope, "c", { deltaId: "x".repeat(limits.deltaIdCharsMax), delete: ["a"] });
    expect(
      await codeOf(vectors.append(scope, "c", { deltaId: "x".repeat(limits.deltaIdCharsMax + 1), delete: ["a"] })),
    ).toBe("INVALID");
    expect(await vectors.compact(scope, "c")).toMatchObject({ outcome: "done" });
    expect((await vectors.get(scope, "c", [umlauts]))[0]?.id).toBe(umlauts);
    expect((await vectors.fsck(scope, "c")).ok).toBe(true);
  });

  it("rows of one delta", async () => {
    const { vectors } = await fresh();
    const ids = Array.from({ length: limits.deltaRowsMax }, (_, i) => `r${i}`);
    await vectors.append(scope, "c", { upsert: ids.map((id) => ({ id, vector: [1, 2] })) });
    expect(await vectors.count(scope, "c")).toBe(limits.deltaRowsMax);
    expect(await codeOf(vectors.append(scope, "c", { delete: [...ids, "one more"] }))).toBe("LIMIT_EXCEEDED");
    const text = "x".repeat(limits.rowTextBytesMax / 2);
    expect(
      await codeOf(
        vectors.append(scope, "c", { upsert: ids.slice(0, 400).map((id) => ({ id, vector: [1, 2], text })) }),
      ),
    ).toBe("LIMIT_EXCEEDED");
  });

  it("dimensions, metric and language of a collection", async () => {
    const { vectors } = await fresh();
    for (const dims of [limits.dimsMin, limits.dimsMax]) {
      await vectors.create(scope, `d${dims}`, { dims });
      await vectors.append(scope, `d${dims}`, { upsert: [{ id: "a", vector: new Float32Array(dims).fill(1) }] });
      await vectors.compact(scope, `d${dims}`);
      expect((await vectors.query(scope, `d${dims}`, { vector: new Float32Array(dims).fill(2) })).hits).toMatchObject([
        { id: "a" },
      ]);
    }
    const wrong: unknown[] = [limits.dimsMin - 1, limits.dimsMax + 1, 0, -1, 2.5, "3", Number.NaN, undefined];
    for (const dims of wrong)
      expect(await refusalOf(vectors.create(scope, "x", { dims: dims as number }))).toMatchObject({
        code: "INVALID",
        message: /dims/,
      });
    expect(await refusalOf(vectors.create(scope, "x", { dims: 3, metric: "hamming" as "dot" }))).toMatchObject({
      code: "INVALID",
      message: /metric/,
    });
    expect(await refusalOf(vectors.create(scope, "x", { dims: 3, language: "klingon" }))).toMatchObject({
      code: "INVALID",
      message: /language/,
    });
    expect(await codeOf(vectors.create(scope, "x", undefined as unknown as { dims: number }))).toBe("INVALID");
  });

  it("ids of collections", async () => {
    const { vectors } = await fresh();
    const longest = "x".repeat(limits.collectionIdCharsMax);
    await vectors.create(scope, longest, { dims: 2 });
    await vectors.append(scope, longest, { upsert: [{ id: "a", vector: [1, 1] }] });
    for (const id of [`${longest}x`, "", ".", "..", "a/b", "a b", "ä", "a\0", "../x", 7, undefined, null, {}]) {
      expect(await refusalOf(vectors.create(scope, id as string, { dims: 2 })), String(id)).toMatchObject({
        code: "INVALID",
        message: /collection's id/,
      });
      expect(await codeOf(vectors.count(scope, id as string)), String(id)).toBe("INVALID");
    }
  });

  it("hits of a query, ids of a get, characters of a text", async () => {
    const { vectors } = await fresh();
    await vectors.append(scope, "c", {
      upsert: [
        { id: "a", vector: [1, 1], text: "word" },
        { id: "b", vector: [1, 0] },
      ],
    });
    for (const limit of [1, limits.queryHitsMax])
      expect((await vectors.query(scope, "c", { vector: [1, 1], limit })).hits.length).toBe(Math.min(limit, 2));
    const wrong: unknown[] = [0, limits.queryHitsMax + 1, -1, 1.5, "10", Number.NaN];
    for (const limit of wrong)
      expect(await refusalOf(vectors.query(scope, "c", { vector: [1, 1], limit: limit as number }))).toMatchObject({
        code: "INVALID",
        message: /limit/,
      });
    const ids = Array.from({ length: limits.getIdsMax }, () => "a");
    expect(await vectors.get(scope, "c", ids)).toHaveLength(limits.getIdsMax);
    expect(await codeOf(vectors.get(scope, "c", [...ids, "a"]))).toBe("INVALID");
    expect(await codeOf(vectors.get(scope, "c", [7 as unknown as string]))).toBe("INVALID");
    expect(await codeOf(vectors.get(scope, "c", "a" as unknown as string[]))).toBe("INVALID");
    const longest = "word ".repeat(limits.queryTextCharsMax / 5);
    expect((await vectors.query(scope, "c", { text: longest })).hits).toHaveLength(1);
    expect(await codeOf(vectors.query(scope, "c", { text: `${longest}x` }))).toBe("INVALID");
    expect(await vectors.countTerms(scope, "c", longest)).toEqual({
      rows: 1,
      tokens: 1,
      frequencies: new Map([["word", 1]]),
    });
    expect(await codeOf(vectors.countTerms(scope, "c", `${longest}x`))).toBe("INVALID");
  });

  it("R-CMP-07 pending deltas: the last one below the limit is accepted, the next is asked to wait, and accepted after compaction", async () => {
    const process = await fresh();
    const { vectors } = process;
    const append = (i: number) => vectors.append(scope, "c", { upsert: [{ id: `r${i}`, vector: [1, 1] }] });
    for (let i = 0; i < limits.pendingDeltasMax; i += 50)
      await Promise.all(Array.from({ length: 50 }, (_, j) => append(i + j)));
    expect(await vectors.stats(scope, "c")).toMatchObject({ pendingDeltas: limits.pendingDeltasMax });
    expect(await refusalOf(append(-1))).toMatchObject({
      code: "THROTTLED",
      status: 429,
      retryable: true,
      message: expect.stringContaining("1000 deltas") as string,
    });
    expect(
      await vectors.append(scope, "c", { deltaId: "x", upsert: [{ id: "x", vector: [1, 1] }] }).catch(() => "refused"),
    ).toBe("refused");
    expect(await vectors.compact(scope, "c")).toMatchObject({ outcome: "done", folds: 5 });
    expect(await append(-1)).toMatchObject({ seq: limits.pendingDeltasMax + 1 });
    expect(await vectors.count(scope, "c")).toBe(limits.pendingDeltasMax + 1);
  });

  it("R-CMP-07 pending bytes: one below the limit is accepted, the limit is not", async () => {
    const { machine, vectors } = await fresh();
    const setBytes = (value: number) =>
      machine.items.write(scope, vectorsContainer.name, ["c"], {
        op: "patch",
        id: itemIds.log,
        patch: [{ op: "set", path: "/bytes", value }],
      });
    await setBytes(limits.pendingBytesMax - 1);
    await vectors.append(scope, "c", { upsert: [{ id: "a", vector: [1, 1] }] });
    await setBytes(limits.pendingBytesMax);
    expect(await codeOf(machine.process().vectors.append(scope, "c", { upsert: [{ id: "b", vector: [1, 1] }] }))).toBe(
      "THROTTLED",
    );
  });
});

describe("vectors: what a read rejects", () => {
  it("queries", async () => {
    const { vectors } = await fresh();
    await vectors.append(scope, "c", { upsert: [{ id: "a", vector: [1, 1], text: "x" }] });
    const refused: Record<string, [query: unknown, says: string]> = {
      "no object": [null, "must be an object"],
      "neither vector nor text": [{}, "requires a vector, a text, or both"],
      "an unknown mode": [{ vector: [1, 1], mode: "fuzzy" }, "mode"],
      "a mode without its vector": [{ text: "x", mode: "hybrid" }, "requires a vector"],
      "a mode without its text": [{ vector: [1, 1], mode: "keyword" }, "requires a text"],
      "other dimensions": [{ vector: [1] }, "vector: has 1 numbers"],
      NaN: [{ vector: [1, Number.NaN] }, "vector[1]"],
      "text that is none": [{ text: 5 }, "text"],
      "recall 0": [{ vector: [1, 1], recall: 0 }, "recall"],
      "recall above 1": [{ vector: [1, 1], recall: 1.01 }, "recall"],
      "recall that is text": [{ vector: [1, 1], recall: "1" }, "recall"],
      "minScore that is NaN": [{ vector: [1, 1], minScore: Number.NaN }, "minScore"],
      "counts that are none": [{ text: "x", elsewhere: 5 }, "elsewhere"],
      "counts without the words": [{ text: "x", elsewhere: { rows: 1, tokens: 1 } }, "elsewhere"],
      "counts below nothing": [{ text: "x", elsewhere: { rows: -1, tokens: 1, frequencies: new Map() } }, "elsewhere"],
      "a word in more rows than there are": [
        { text: "x", elsewhere: { rows: 1, tokens: 9, frequencies: new Map([["x", 2]]) } },
        "elsewhere",
      ],
      "a filter that is a list": [{ vector: [1, 1], filter: [] }, "filter"],
      "a filter that is text": [{ vector: [1, 1], filter: "year = 1" }, "filter"],
    };
    for (const [what, [query, says]] of Object.entries(refused)) {
      expect(await refusalOf(vectors.query(scope, "c", query as QueryInput)), what).toMatchObject({
        code: "INVALID",
        message: expect.stringContaining(says) as string,
      });
    }
  });

  it("filters: a field that no row has and a type that the field never has are named, in deltas and in segments", async () => {
    const { vectors } = await fresh();
    const empty = await vectors.query(scope, "c", { vector: [1, 1], filter: { year: 1 } });
    expect(empty.hits, "an empty collection has no known fields").toEqual([]);
    await vectors.append(scope, "c", {
      upsert: [{ id: "a", vector: [1, 1], metadata: { year: 1936, lang: "en", place: { city: "Kiel" } } }],
    });
    const refused: Record<string, [filter: unknown, says: string]> = {
      "an unknown field": [{ yeer: 1936 }, "yeer"],
      "an unknown field within": [{ and: [{ or: [{ lang: "en" }, { not: { langue: "fr" } }] }] }, "langue"],
      "an unknown path": [{ "place.town": "Kiel" }, "place.town"],
      "text for a number": [{ year: "1936" }, "year"],
      "text to compare with a number": [{ year: { gte: "1936" } }, "year"],
      "a number for text": [{ lang: { in: ["en", 5] } }, "lang"],
      "a boolean for text": [{ lang: { ne: true } }, "lang"],
      "an unknown operator": [{ year: { above: 5 } }, "above"],
      "an empty comparison": [{ year: {} }, "year"],
      "a list as value": [{ year: [1936] }, "year"],
      "exists that is no boolean": [{ year: { exists: 1 } }, "exists"],
    };
    for (let round = 0; round < 2; round += 1) {
      for (const [what, [filter, says]] of Object.entries(refused)) {
        const named = { code: "INVALID", message: expect.stringContaining(says) as string };
        expect(
          await refusalOf(vectors.query(scope, "c", { vector: [1, 1], filter: filter as Filter })),
          what,
        ).toMatchObject(named);
        expect(await refusalOf(vectors.count(scope, "c", { filter: filter as Filter })), what).toMatchObject(named);
      }
      await vectors.compact(scope, "c");
    }
  });

  it("tokens, versions and times", async () => {
    const { vectors } = await fresh();
    const { session } = await vectors.append(scope, "c", { upsert: [{ id: "a", vector: [1, 1] }] });
    expect(await vectors.count(scope, "c", { session })).toBe(1);
    const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const bad of [
      "",
      "x",
      session.slice(1),
      text(["log"]),
      text([1, 1]),
      text(["log", "1"]),
      text(["log", 1.5]),
      text(null),
      "null",
      text({}),
    ]) {
      expect(await refusalOf(vectors.count(scope, "c", { session: bad })), bad).toMatchObject({
        code: "INVALID",
        message: /session/,
      });
    }
    expect(await codeOf(vectors.count(scope, "c", { session: text(["another log", 1]) }))).toBe("CONFLICT");
    const [logId] = JSON.parse(Buffer.from(session, "base64url").toString()) as [string];
    expect(
      await codeOf(vectors.count(scope, "c", { session: text([logId, 99]) })),
      "a write that is not there yet",
    ).toBe("UNAVAILABLE");
    const bad: unknown[] = [
      { version: -1 },
      { version: 1.5 },
      { version: "1" },
      { time: "yesterday" },
      { time: Number.NaN },
      { time: null },
      {},
      "1",
      7,
      null,
    ];
    for (const asOf of bad)
      expect(await codeOf(vectors.count(scope, "c", { asOf: asOf as { version: number } })), JSON.stringify(asOf)).toBe(
        "INVALID",
      );
    for (const asOf of [{ version: 99 }, { time: "1999-01-01" }])
      expect(await codeOf(vectors.count(scope, "c", { asOf }))).toBe("NOT_FOUND");
    for (const to of bad)
      expect(
        await codeOf(vectors.restore(scope, "c", to as { version: number })),
        `restore ${JSON.stringify(to)}`,
      ).toBe("INVALID");
    for (const purgeAt of [undefined, "soon", Number.NaN])
      expect(await codeOf(vectors.delete(scope, "c", { purgeAt: purgeAt as number }))).toBe("INVALID");
    expect(await codeOf(vectors.delete(scope, "c", undefined as unknown as { purgeAt: number }))).toBe("INVALID");
    expect(await vectors.count(scope, "c")).toBe(1);
  });
});
