/** Which requests are grouped, within which bounds, and who gets which outcome. The transactions themselves: commit.test.ts. */
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { compileContainer, normaliseDefinition } from "../../items/compiled-container.ts";
import type { CommitOutcome } from "../../items/item-engine.ts";
import type { CommitRequest, PreparedOperation } from "../../items/plan-batch.ts";
import { prepareDocument } from "../../items/prepare.ts";
import { CommitGroups, groupRequestsMax, lanesMax } from "./commit-groups.ts";

const container = compileContainer(normaliseDefinition({ name: "notes", partitionKey: ["p"] }), 1);
const done: CommitOutcome = { ok: true, results: [] };

function request(
  p: string,
  operations: readonly PreparedOperation[] = [{ op: "delete", id: "x", idKey: "x", etag: "e" }],
): CommitRequest {
  return { tenant: "acme", pk: JSON.stringify(["acme", p]), now: 0, operations };
}

function deletes(count: number): PreparedOperation[] {
  return Array.from({ length: count }, (_, i) => ({ op: "delete", id: `${i}`, idKey: `${i}`, etag: "e" }));
}

/** An upsert whose document has this many characters. */
function upsert(p: string, chars: number): CommitRequest {
  const prepare = (text: string) =>
    prepareDocument(container, "acme", JSON.stringify(["acme", p]), { id: "x", p, text });
  const prepared = prepare("x".repeat(chars - prepare("").json.length));
  expect(prepared.json).toHaveLength(chars);
  return request(p, [{ op: "upsert", id: "x", idKey: "x", etag: "e", prepared }]);
}

/** Groups wait until the test releases them; their content is recorded. */
class Gate {
  readonly groups: string[][] = [];
  readonly alone: string[] = [];
  readonly #held: (() => void)[] = [];
  /** The outcome of a group. */
  answer: (pks: readonly string[]) => (CommitOutcome | undefined)[] = (pks) => pks.map(() => done);
  readonly commits = new CommitGroups({
    group: async (_, requests) => {
      const pks = requests.map(({ pk }) => (JSON.parse(pk) as string[])[1] as string);
      this.groups.push(pks);
      await new Promise<void>((resolve) => this.#held.push(resolve));
      return this.answer(pks);
    },
    alone: async (_, { pk }) => {
      const [, p] = JSON.parse(pk) as [string, string];
      this.alone.push(p);
      if (p === "bad") throw new PinakesError("INTERNAL", "refused");
      return done;
    },
  });

  /** Releases the oldest group, and waits until its lane has taken another. */
  async release(): Promise<void> {
    this.#held.shift()?.();
    await setImmediate();
  }

  /** One request in each lane. */
  fill(): Promise<unknown>[] {
    return Array.from({ length: lanesMax }, (_, i) => this.commits.commit("notes", request(`lane${i}`)));
  }

  /** The groups formed by requests that queued behind full lanes. */
  async grouped(requests: readonly CommitRequest[]): Promise<number[]> {
    const told = [...this.fill(), ...requests.map((one) => this.commits.commit("notes", one))];
    while (this.groups.flat().length < told.length) await this.release();
    for (let i = 0; i < told.length; i += 1) await this.release();
    expect(await Promise.all(told)).toEqual(told.map(() => done));
    return this.groups.slice(lanesMax).map(({ length }) => length);
  }
}

it("a request that finds a free lane starts at once, alone", () => {
  const gate = new Gate();
  void gate.commits.commit("notes", request("a"));
  expect(gate.groups).toEqual([["a"]]);
  void gate.commits.commit("other", request("b"));
  void gate.commits.commit("other", request("c"));
  // Another container has its own lanes.
  expect(gate.groups).toEqual([["a"], ["b"], ["c"]]);
});

it("requests that queue while the lanes are busy are grouped, up to a maximum", async () => {
  const requests = (count: number) => Array.from({ length: count }, (_, i) => request(`p${i}`));
  expect(await new Gate().grouped(requests(groupRequestsMax))).toEqual([groupRequestsMax]);
  expect(await new Gate().grouped(requests(groupRequestsMax + 1))).toEqual([groupRequestsMax, 1]);
});

it("a group has no more operations than one batch may have", async () => {
  const half = limits.batchOperationsMax / 2;
  expect(await new Gate().grouped([request("a", deletes(half)), request("b", deletes(half))])).toEqual([2]);
  expect(
    await new Gate().grouped([request("a", deletes(half)), request("b", deletes(half + 1)), request("c")]),
  ).toEqual([1, 2]);
});

it("a group has no more text than one batch may have, and the largest document goes alone", async () => {
  const half = limits.batchBytesMax / 2;
  expect(await new Gate().grouped([upsert("a", half), upsert("b", half)])).toEqual([2]);
  expect(await new Gate().grouped([upsert("a", half), upsert("b", half + 1), request("c")])).toEqual([1, 2]);
  expect(await new Gate().grouped([upsert("a", limits.batchBytesMax), upsert("b", 100)])).toEqual([1, 1]);
});

async function ofThree(gate: Gate): Promise<PromiseSettledResult<CommitOutcome>[]> {
  const lanes = gate.fill();
  const told = Promise.allSettled(["a", "bad", "c"].map((p) => gate.commits.commit("notes", request(p))));
  for (let i = 0; i <= lanesMax; i += 1) await gate.release();
  const outcomes = await told;
  expect(gate.groups.at(-1)).toEqual(["a", "bad", "c"]);
  await Promise.all(lanes);
  return outcomes;
}

it("after an error of a group its requests are retried one by one, and only the failing one gets the error", async () => {
  const gate = new Gate();
  gate.answer = (pks) => {
    if (pks.includes("bad")) throw new PinakesError("INTERNAL", "refused");
    return pks.map(() => done);
  };
  expect((await ofThree(gate)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(gate.alone).toEqual(["a", "bad", "c"]);
});

it("an error of the server fails all requests at once", async () => {
  const gate = new Gate();
  gate.answer = (pks) => {
    if (pks.includes("bad")) throw new PinakesError("UNAVAILABLE", "gone");
    return pks.map(() => done);
  };
  expect((await ofThree(gate)).map((one) => (one as PromiseRejectedResult).reason as unknown)).toEqual(
    Array.from({ length: 3 }, () => expect.objectContaining({ code: "UNAVAILABLE" }) as unknown),
  );
  expect(gate.alone).toEqual([]);
});

it("a request whose partition is in use elsewhere leaves the group, and the others do not wait for it", async () => {
  const gate = new Gate();
  gate.answer = (pks) => pks.map((p) => (p === "c" ? undefined : done));
  expect((await ofThree(gate)).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  expect(gate.alone).toEqual(["c"]);
});
