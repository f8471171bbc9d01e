import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { tinySet, writeSet } from "../../evaluation/test-set.ts";
import { evalCommand } from "./eval.ts";

const base = temporaryFolder("cli-eval");
const folder = await writeSet(join(base, "tiny"), tinySet);
const keep = join(base, "kept");
// Of its own, so that what else runs on this machine is not counted.
const temporary = join(base, "temporary");
await mkdir(temporary);
process.env["TMPDIR"] = temporary;

async function run(...args: string[]): Promise<{ code: number; text: string; progress: string }> {
  let text = "";
  let progress = "";
  const code = await evalCommand(args, { out: (part) => (text += part), progress: (part) => (progress += part) });
  return { code, text, progress };
}

interface Answer {
  readonly configurations: readonly {
    readonly name: string;
    readonly reused: boolean;
    readonly quality: Readonly<Record<string, number>>;
  }[];
  readonly comparison?: Readonly<
    Record<
      string,
      { readonly difference: number; readonly p_value: number; readonly won: number; readonly lost: number }
    >
  >;
}

async function json(...args: string[]): Promise<Answer> {
  return JSON.parse((await run(...args, "--json")).text) as Answer;
}

describe("pinakes eval", () => {
  it("prints a table for each mode, shows its progress, and leaves nothing behind", async () => {
    const { code, text, progress } = await run(folder);
    expect(code).toBe(0);
    expect(text).toMatch(
      /^10 documents \(stored in \d+ s\), 3 queries of test\nqueries\.jsonl: 1 without a relevant document skipped \(line 4\)\n\nsearch +ndcg@10 +recall@10 +recall@100 +mrr@10 +ms p50 +ms p95\n/,
    );
    expect(text).toMatch(/\nkeyword +0\.6667 +0\.6667 +0\.6667 +0\.6667 /);
    expect(text).toMatch(/\nvector +1\.0000 +1\.0000 +1\.0000 +1\.0000 /);
    expect(text).toMatch(/\nhybrid /);
    expect(text).not.toContain("against");
    expect(progress).toContain("documents  ");
    expect(progress).toContain("10/10");
    expect(progress).toMatch(/queries \(hybrid\).*3\/3.*\r +\r$/s);
    expect((await readdir(temporary)).filter((name) => name.startsWith("pinakes"))).toEqual([]);
  });

  it("with --keep the second run does not embed again, and --compare says whether ranks or scores are better", async () => {
    const first = await json(folder, "--keep", keep);
    expect(first.configurations.map(({ name, reused }) => [name, reused])).toEqual([
      ["keyword", false],
      ["vector", true],
      ["hybrid", true],
    ]);
    const second = await json(folder, "--keep", keep, "--compare");
    expect(second.configurations.map(({ name, reused }) => [name, reused])).toEqual([
      ["keyword", true],
      ["vector", true],
      ["hybrid, convex", true],
      ["hybrid, rrf", true],
    ]);
    expect(Object.keys(second.comparison ?? {})).toEqual(["ndcg@10", "recall@10", "recall@100", "mrr@10"]);
    expect((await run(folder, "--keep", keep, "--compare")).text).toMatch(
      /^10 documents \(were there already\).*"hybrid, rrf" against "hybrid, convex" \(p: randomisation test.*\nmetric +difference +p +won +lost +tied\nndcg@10 /s,
    );
  });

  it("compares two configurations", async () => {
    const { configurations, comparison } = await json(
      folder,
      "--keep",
      keep,
      "--a",
      '{"mode":"keyword"}',
      "--b",
      '{"mode":"vector"}',
      "--seed",
      "7",
    );
    expect(configurations.map(({ name, reused }) => [name, reused])).toEqual([
      ["a: keyword", true],
      ["b: vector", true],
    ]);
    // b wins the one query that has no word in common with its document.
    expect(comparison?.["ndcg@10"]).toMatchObject({ won: 1, lost: 0, tied: 2, p_value: 1 });
    expect(comparison?.["ndcg@10"]?.difference).toBeCloseTo(1 / 3, 12);
    const back = await json(folder, "--keep", keep, "--a", '{"mode":"vector"}', "--b", '{"mode":"keyword"}');
    expect(back.comparison?.["ndcg@10"]).toMatchObject({ won: 0, lost: 1 });
  });

  it("documents may be cut in two ways to be compared", async () => {
    const { configurations } = await json(
      folder,
      "--keep",
      keep,
      "--a",
      '{"mode":"vector"}',
      "--b",
      '{"mode":"vector","chunking":{"type":"FIXED","size":100}}',
    );
    expect(configurations.map(({ name, reused }) => [name, reused])).toEqual([
      ["a: vector", true],
      ["b: vector, FIXED 100", false],
    ]);
  });

  it("says what is wrong with what was asked for", async () => {
    expect(await run("--help")).toMatchObject({ code: 0, text: expect.stringContaining("--compare") as string });
    expect(await run()).toMatchObject({ code: 2, text: expect.stringContaining("pinakes eval <folder>") as string });
    await expect(run(join(base, "nowhere"))).rejects.toThrow(/corpus\.jsonl: no such file/);
    await expect(run(folder, "--split", "dev")).rejects.toThrow(/--split test/);
    await expect(run(folder, "more")).rejects.toThrow('"more" is unexpected');
    await expect(run(folder, "--nonsense")).rejects.toThrow("--nonsense");
    await expect(run(folder, "--a", "{}")).rejects.toThrow("--a and --b: give both");
    await expect(run(folder, "--a", "{}", "--b", "{}", "--compare")).rejects.toThrow("choose one");
    await expect(run(folder, "--a", "{", "--b", "{}")).rejects.toThrow("--a: is not JSON");
    await expect(run(folder, "--a", "1", "--b", "{}")).rejects.toThrow("--a: must be an object");
    await expect(run(folder, "--a", "{}", "--b", '{"weight":1}')).rejects.toThrow("--b.weight: unknown field");
    await expect(run(folder, "--chunking", '{"type":"WORDS"}')).rejects.toThrow("--chunking.type");
    for (const seed of ["-1", "1.5", "4294967296", "x"])
      await expect(run(folder, `--seed=${seed}`)).rejects.toThrow("--seed: must be a whole number");
  });
});
