/** The staging area: single use, limits, expiry, one user's apart from another's, whatever process dies where. */
import { describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import { fileLimits, stagedUri } from "../../src/knowledge/index.ts";
import { buffer } from "node:stream/consumers";
import { dayMs } from "../audit/support/audited.ts";
import type { FaultKind } from "../vectors/support/calls.ts";
import { Crashes } from "./support/crashes.ts";
import { Machine, type Process } from "./support/machine.ts";
import { body, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const machine = forAllTests(() => Machine.open());
const crashes = forAllTests(() => new Crashes(machine));

const hourMs = 3_600_000;

async function objectKeys(): Promise<readonly string[]> {
  return (await machine.objects.list(machine.admin.scope, "files/", { limit: 1_000 })).keys.map(({ key }) => key);
}

async function sweepLater(ms: number): Promise<void> {
  machine.now += ms;
  const process = await machine.process();
  await process.sweep();
  await process.work();
  await process.close();
}

async function stage({ knowledge }: Process, { caller }: Pick<Place, "caller">, key: string, text: string) {
  const { token } = await knowledge.staging.grant(caller, key);
  return knowledge.staging.receive(token, { key, user: caller.userId }, body(text));
}

async function read({ knowledge }: Process, { caller }: Pick<Place, "caller">, key: string): Promise<string> {
  return (await buffer(knowledge.staging.content(caller, key))).toString("utf8");
}

describe("a process that dies at any call", () => {
  const kinds: readonly FaultKind[] = ["crash-before", "crash-after"];

  it.each(kinds)("%s: what was acknowledged is there until it expires, and then no byte of it", async (kind) => {
    let faults = 0;
    for (let n = 0; ; n += 1) {
      const place = await crashes.freshPlace();
      const acknowledged = new Map<string, string>();
      const name = await crashes.faultAt(n, kind, (process) => scenario(process, place, acknowledged));
      await crashes.recover();
      const process = await machine.process();
      for (const [key, text] of acknowledged) {
        const found = await read(process, place, key);
        // A second upload that was not acknowledged may have arrived, as a whole.
        expect(key === "twice.txt" ? ["first", "second"] : [text], `${kind} at call ${n}, ${name}`).toContain(found);
      }
      await process.close();
      await sweepLater(3 * dayMs);
      await sweepLater(2 * dayMs);
      expect(await objectKeys(), `${kind} at call ${n}, ${name}`).toEqual([]);
      if (name === undefined) break;
      faults += 1;
    }
    expect(faults).toBeGreaterThan(15);
  });

  async function scenario(process: Process, place: Place, acknowledged: Map<string, string>): Promise<void> {
    for (const [key, text] of [
      ["once.txt", "only"],
      ["twice.txt", "first"],
      ["twice.txt", "second"],
    ] as const) {
      await stage(process, place, key, text);
      acknowledged.set(key, text);
    }
  }
});

describe("the staging area", () => {
  it("R-LISA-79 a link works once, for its key and its user, and for an hour", async () => {
    const place = await crashes.freshPlace();
    const process = await machine.process();
    const { staging } = process.knowledge;
    const { token } = await staging.grant(place.caller, "a.txt");
    await expect(staging.receive(token, { key: "b.txt" }, body("x"))).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(staging.receive(token, { user: "nobody" }, body("x"))).rejects.toMatchObject({ code: "FORBIDDEN" });
    const staged = await staging.receive(token, { key: "a.txt" }, body("text"));
    expect(staged).toMatchObject({ key: "a.txt", bytes: 4 });
    await expect(staging.receive(token, {}, body("x"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { token: late } = await staging.grant(place.caller, "a.txt");
    machine.now += hourMs;
    await expect(staging.receive(late, {}, body("x"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(staging.receive("A".repeat(43), {}, body("x"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await read(process, place, "a.txt")).toBe("text");
    await process.close();
  });

  it("R-LISA-79 belongs to its user: the same key of another is another file, with another source", async () => {
    const place = await crashes.freshPlace();
    const process = await machine.process();
    const other = { caller: makeCaller({ tenant: place.caller.scope.tenant, userId: "somebody-else" }) };
    await stage(process, place, "report.txt", "mine");
    await expect(process.knowledge.staging.find(other.caller, ["report.txt"])).rejects.toMatchObject({
      code: "INVALID",
    });
    await stage(process, other, "report.txt", "theirs");
    expect([await read(process, place, "report.txt"), await read(process, other, "report.txt")]).toEqual([
      "mine",
      "theirs",
    ]);
    const uris = [place, other].map(({ caller }) => stagedUri("bucket", caller.userId, "report.txt"));
    expect(new Set(uris).size).toBe(2);
    await process.close();
  });

  it("R-LISA-79 takes 52,428,800 bytes and not one more, of which nothing stays", async () => {
    const place = await crashes.freshPlace();
    const process = await machine.process();
    const { staging } = process.knowledge;
    const bytes = async function* (count: number): AsyncGenerator<Uint8Array> {
      for (let left = count; left > 0; left -= 1_048_576) yield new Uint8Array(Math.min(left, 1_048_576));
    };
    const before = await objectKeys();
    const { token: over } = await staging.grant(place.caller, "big.bin");
    await expect(staging.receive(over, {}, bytes(fileLimits.stagedBytesMax + 1))).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    expect(await objectKeys()).toEqual(before);
    const { token } = await staging.grant(place.caller, "big.bin");
    expect(await staging.receive(token, {}, bytes(fileLimits.stagedBytesMax))).toMatchObject({ bytes: 52_428_800 });
    await process.close();
  });

  it("a key has 1–900 characters without control characters, and ends with a name", async () => {
    const { caller } = await crashes.freshPlace();
    const process = await machine.process();
    const { staging } = process.knowledge;
    for (const key of ["", "k".repeat(901), "a\0b", "folder/", "a\nb"])
      await expect(staging.grant(caller, key), JSON.stringify(key)).rejects.toMatchObject({ code: "INVALID" });
    expect((await staging.grant(caller, "k".repeat(900))).key).toHaveLength(900);
    await process.close();
  });

  it("what is not ingested goes after a day; who sends the key again in time keeps it", async () => {
    const place = await crashes.freshPlace();
    const process = await machine.process();
    await stage(process, place, "old.txt", "old");
    await stage(process, place, "kept.txt", "one");
    machine.now += fileLimits.stagedMsMax - hourMs;
    await stage(process, place, "kept.txt", "two");
    machine.now += hourMs;
    await expect(process.knowledge.staging.find(place.caller, ["kept.txt", "old.txt"])).rejects.toThrow('"old.txt"');
    await sweepLater(hourMs);
    expect(await read(process, place, "kept.txt")).toBe("two");
    const owned = (await objectKeys()).filter((key) => key.includes("/staged_"));
    await sweepLater(3 * dayMs);
    await sweepLater(2 * dayMs);
    expect(owned.length).toBeGreaterThan(0);
    expect((await objectKeys()).filter((key) => key.includes("/staged_"))).toEqual([]);
    await process.close();
  });
});
