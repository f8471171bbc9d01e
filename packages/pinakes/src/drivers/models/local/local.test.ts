import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { embedderSuite } from "../../../testing/embedder-suite.ts";
import type { Embedder } from "../../../ports/embedder.ts";
import { openLocalEmbedder } from "./index.ts";
import { textsMax } from "./job-queue.ts";
import { checkHash, modelFolder } from "./model-folder.ts";
import { EmbedPool } from "./pool.ts";
import { openLocalTokenizer } from "./tokenizer.ts";

const base = temporaryFolder("embedders");
const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
});

async function open(options: Parameters<typeof openLocalEmbedder>[0] = {}): Promise<Embedder> {
  const embedder = await openLocalEmbedder({ threads: 1, ...options });
  opened.push(embedder);
  return embedder;
}

function openPool(options: Partial<ConstructorParameters<typeof EmbedPool>[0]> = {}): EmbedPool {
  const pool = new EmbedPool({ folder: modelFolder(), tokensMax: 256, threads: 1, ...options });
  opened.push(pool);
  return pool;
}

const crashing = new URL("./test-crashing-thread.ts", import.meta.url);
const similarity = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

embedderSuite("local", () => openLocalEmbedder());

describe("local embedder: the model", () => {
  it("is all-MiniLM-L6-v2", async () => {
    expect((await open()).model).toEqual({
      id: "all-MiniLM-L6-v2",
      provider: "local",
      dims: 384,
      metric: "cosine",
      tokensMax: 256,
    });
  });

  it("returns the same numbers as when it was chosen", async () => {
    const embedder = await open();
    const [vector] = await embedder.embed(["The quick brown fox jumps over the lazy dog."]);
    const [x, y, z] = vector as Float32Array;
    for (const [got, expected] of [
      [x, 0.0456],
      [y, 0.0722],
      [z, 0.0512],
    ] as const)
      expect(Math.abs((got as number) - expected)).toBeLessThan(1e-3);
  });

  it("similar meanings are nearer than others", async () => {
    const pairs = [
      ["How do I reset my password?", "I forgot my login credentials and need new ones."],
      ["The company's profits fell sharply.", "Earnings of the firm dropped a lot."],
      ["A dog is chasing a ball in the park.", "A puppy runs after a toy outdoors."],
      ["Vaccines protect against infectious disease.", "Immunisation prevents people from catching illnesses."],
      ["The train was delayed by heavy snow.", "Because of the blizzard, rail services ran late."],
    ] as const;
    const embedder = await open();
    const left = await embedder.embed(pairs.map(([text]) => text));
    const right = await embedder.embed(pairs.map(([, text]) => text));
    for (const [i, vector] of left.entries()) {
      const scores = right.map((other) => similarity(vector, other));
      expect(scores.indexOf(Math.max(...scores))).toBe(i);
    }
  });

  it("reads 256 tokens at once, special tokens on top; the rest is read in further windows", async () => {
    const embedder = await open();
    const words = (count: number, last: string): string => `${"word ".repeat(count - 1)}${last}`;
    const tokens = (await openLocalTokenizer()).words(words(256, "apple")).tokens;
    expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(256);
    const [at, atOther] = await embedder.embed([words(256, "apple"), words(256, "treaty")]);
    expect(at).not.toEqual(atOther);
    const [past, pastOther, none] = await embedder.embed([
      words(257, "apple"),
      words(257, "treaty"),
      words(256, "word"),
    ]);
    expect(past).not.toEqual(pastOther);
    expect(past).not.toEqual(none);
    // A word of several tokens goes into one window whole: "una", "##ffa", "##ble".
    const [long, first] = await embedder.embed([words(256, "unaffable"), words(256, "una")]);
    expect(long).not.toEqual(first);
  });

  it("the vector of a long text is the mean of its windows, weighted by their tokens", async () => {
    const embedder = await open();
    const [one, two] = ["sea ".repeat(200).trim(), "mountain ".repeat(180).trim()];
    const [whole] = await embedder.embed([`${one} ${two}`]);
    // 380 tokens make two windows of 190: ten of the second's words are seas.
    const [left, right] = await embedder.embed(["sea ".repeat(190).trim(), `${"sea ".repeat(10)}${two}`]);
    const mean = (left as Float32Array).map((value, i) => (value + (right?.[i] as number)) / 2);
    const length = Math.hypot(...mean);
    expect(similarity(whole as Float32Array, mean) / length).toBeCloseTo(1, 5);
  });

  it("a thread that gets more than the model's limit fails instead of truncating", async () => {
    await expect(openPool({ tokensMax: 4 }).embed(["one two three four five"])).rejects.toMatchObject({
      code: "INTERNAL",
    });
    expect(await openPool({ tokensMax: 5 }).embed(["one two three four five"])).toHaveLength(1);
  });
});

describe("local embedder: the folder", () => {
  it("rejects weights that are not the pinned ones, and names the file", async () => {
    const path = join(modelFolder().dir, "onnx/model_quantized.onnx");
    const bytes = await readFile(path);
    checkHash(path, "onnx/model_quantized.onnx", bytes);
    bytes[1_000_000] = (bytes[1_000_000] as number) ^ 1;
    expect(() => checkHash(path, "onnx/model_quantized.onnx", bytes)).toThrow(
      expect.objectContaining({ code: "CORRUPT", message: expect.stringContaining(path) }),
    );
  });

  it("a thread that finds a changed tokenizer fails every waiting call, and the next call tries again", async () => {
    const dir = join(base, "changed");
    await cp(modelFolder().dir, dir, { recursive: true });
    const original = await readFile(join(dir, "tokenizer.json"));
    await writeFile(join(dir, "tokenizer.json"), Buffer.concat([original, Buffer.from(" ")]));
    const pool = openPool({ folder: { dir, pinned: true } });
    const calls = await Promise.allSettled([pool.embed(["one", "two"]), pool.embed(["three"], { kind: "query" })]);
    for (const call of calls)
      expect(call).toMatchObject({
        status: "rejected",
        reason: { code: "CORRUPT", message: expect.stringContaining("tokenizer.json") },
      });
    await writeFile(join(dir, "tokenizer.json"), original);
    expect(await pool.embed(["one"])).toHaveLength(1);
  });

  it("a custom folder is not pinned; its dimension and its token limit are its own", async () => {
    const dir = join(base, "own");
    await cp(modelFolder().dir, dir, { recursive: true });
    await writeFile(join(dir, "sentence_bert_config.json"), `{ "max_seq_length": 128 }`);
    const own = await open({ dir, id: "mine" });
    expect(own.model).toEqual({ id: "mine", provider: "local", dims: 384, metric: "cosine", tokensMax: 126 });
    expect(await own.embed(["same"])).toEqual(await (await open()).embed(["same"]));
  });

  it("says what to install if the package is missing", () => {
    const missing = expect.objectContaining({
      code: "UNAVAILABLE",
      retryable: false,
      message: expect.stringMatching(/npm install .*or name another provider/),
    });
    expect(() => modelFolder(undefined, "@pinakes/no-such-package")).toThrow(missing);
  });

  it("a folder without a model says what is missing", async () => {
    await expect(open({ dir: join(base, "nowhere") })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("tokenizer_config.json"),
    });
  });

  it("rejects an invalid number of threads or tokens", async () => {
    for (const threads of [0, 1.5, Number.NaN])
      await expect(openLocalEmbedder({ threads })).rejects.toMatchObject({ code: "INVALID" });
    await expect(openLocalEmbedder({ tokensMax: 0 })).rejects.toMatchObject({ code: "INVALID" });
  });
});

describe("local embedder: threads", () => {
  it("none before the first text, one for one text, and never more than configured", async () => {
    const pool = openPool({ threads: 2 });
    expect(pool.threads).toBe(0);
    await pool.embed(["one"]);
    expect(pool.threads).toBe(1);
    await pool.embed(["one", "two", "three", "four"]);
    expect(pool.threads).toBe(2);
  });

  it("a query goes before waiting documents, and calls take turns", async () => {
    const pool = openPool();
    const order: string[] = [];
    const run = async (name: string, texts: readonly string[], kind: "document" | "query"): Promise<void> => {
      await pool.embed(texts, { kind });
      order.push(name);
    };
    await Promise.all([
      run("large", ["a", "b", "c", "d", "e", "f"], "document"),
      run("small", ["g"], "document"),
      run("query", ["h"], "query"),
    ]);
    expect(order).toEqual(["query", "small", "large"]);
  });

  it("a crashed thread is replaced, and its text is retried once", async () => {
    const pool = openPool({ script: crashing });
    const found = await pool.embed(["before", `crash once ${join(base, "crashed")}`, "after"]);
    expect(found).toHaveLength(3);
    const [before, , after] = found;
    expect(await pool.embed(["before", "after"])).toEqual([before, after]);
  });

  it("a text that crashes every thread fails its own call only", async () => {
    const pool = openPool({ script: crashing });
    const [bad, good] = await Promise.allSettled([pool.embed(["crash"]), pool.embed(["good", "also good"])]);
    expect(bad).toMatchObject({ status: "rejected", reason: { code: "UNAVAILABLE", retryable: true } });
    expect(good).toMatchObject({ status: "fulfilled" });
  });

  it(`accepts ${textsMax} unfinished texts of a kind, and rejects one more`, async () => {
    const pool = openPool();
    const controller = new AbortController();
    const texts = Array.from({ length: textsMax }, () => "x");
    await expect(pool.embed([...texts, "x"])).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    const full = pool.embed(texts, { signal: controller.signal });
    await expect(pool.embed(["one more"])).rejects.toMatchObject({ code: "THROTTLED", retryable: true });
    expect(await pool.embed(["but a query"], { kind: "query" })).toHaveLength(1);
    controller.abort();
    await expect(full).rejects.toMatchObject({ name: "AbortError" });
    expect(await pool.embed(["one more"])).toHaveLength(1);
  });

  it("a process with an idle embedder exits by itself", async () => {
    const script = join(base, "idle.ts");
    await writeFile(
      script,
      `import { openLocalEmbedder } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
const embedder = await openLocalEmbedder({ threads: 2 });
const vectors = await embedder.embed(["one", "two", "three"]);
console.log(vectors.length);`,
    );
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script]);
    expect(stdout.trim()).toBe("3");
    expect(stderr).toBe("");
  });

  it("a process may end while threads load or compute: onnxruntime must not abort it", async () => {
    const script = join(base, "busy.ts");
    await writeFile(
      script,
      `import { openLocalEmbedder } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
const embedder = await openLocalEmbedder({ threads: 2 });
if (process.argv[2] === "computing") await embedder.embed(["one", "two", "three"]);
void embedder.embed(Array.from({ length: 1_000 }, (_, i) => "word ".repeat(250) + i));
setTimeout(() => process.exit(7), Number(process.argv[3]));`,
    );
    for (const [what, ms] of [
      ["loading", 0],
      ["loading", 60],
      ["loading", 150],
      ["computing", 0],
      ["computing", 60],
    ] as const) {
      // The exit code is the script's own; an abort would be a signal.
      await expect(promisify(execFile)(process.execPath, [script, what, `${ms}`])).rejects.toMatchObject({
        code: 7,
        signal: null,
        stderr: "",
      });
    }
  });
});
