import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import { Given, UsageError } from "../terminal/command.ts";
import { pieceCharsMax, pieceLinesMax, resultText, shownLinesMax, takeAll, toldLinesMax } from "./metrics-ingest.ts";
import { incomingLines, lineBytesMax, type IncomingLine } from "./metrics-lines.ts";
import { rangeOf } from "./metrics-time.ts";
import { metrics } from "./metrics.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { cliFolder, failure } from "../terminal/test-terminal.ts";

// Many openings of the stores in one test: a busy machine takes its time.
const { base, env, ...folder } = cliFolder("cli-metrics");
const call = (args: readonly string[], terminal: Partial<Terminal> = {}) => folder.call(metrics, args, terminal);
const json = <T = unknown>(...args: string[]): Promise<T> => folder.json<T>(metrics, ...args);
const refused = (...args: string[]) => failure(call(args));

const day = "2026-03-01";
const thatDay = ["--from", day, "--to", "2026-03-02"];
const metric = (id: string, value: number, hour: number, dimensions: object = {}) =>
  JSON.stringify({
    id,
    agent_id: value > 100 ? "agent-2" : "agent-1",
    metric_type: "latency",
    value,
    timestamp: `${day}T0${hour}:00:00Z`,
    dimensions,
  });

beforeAll(async () => {
  const good = [
    metric("m1", 50, 1, { model: "small" }),
    metric("m2", 70.25, 1, { model: "large", tool_name: "find" }),
    "",
    metric("m3", 200, 2, { model: "large" }),
  ];
  await writeFile(join(base, "good.ndjson"), `\uFEFF${good.join("\r\n")}`);
  await writeFile(join(base, "bad.ndjson"), `${metric("m4", 1, 3)}\n{"agent_id":"a"}\n{"agent_id":\n"text"\n`);
  await writeFile(join(base, "list.json"), `[\n${metric("m5", 1, 3)}\n]`);
});

describe("pinakes metrics ingest", () => {
  it("takes a file; the same again changes nothing", async () => {
    expect(await call(["ingest", "good.ndjson"])).toMatchObject({ code: 0, out: "3 lines accepted.\n" });
    expect(await json("ingest", "good.ndjson")).toEqual({ accepted: 0, duplicates: 3, failed: 0, lines: [] });
  });

  it("tells lines that are wrong by their number, takes the others, and fails", async () => {
    const { code, out } = await call(["ingest", "bad.ndjson"]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^1 line accepted, 3 refused\.\n {2}bad\.ndjson:2: .*metric_type.*\n {2}bad\.ndjson:3: is not JSON: .*\n {2}bad\.ndjson:4: /,
    );
    expect((await refused("ingest", "list.json")).message).toContain("jq -c '.[]'");
    expect((await refused("ingest", "none.ndjson")).message).toContain("cannot be read: ENOENT");
    expect((await refused("ingest", ".")).message).toContain("is a folder");
    expect(await refused("ingest")).toBeInstanceOf(UsageError);
  });

  it("takes what is piped in, in as many pieces as it needs; stderr stays empty", async () => {
    const script = fileURLToPath(new URL("../pinakes.ts", import.meta.url));
    const child = spawn(process.execPath, [script, "metrics", "ingest", "-", "--json", "--workspace", "piped"], {
      env: { ...process.env, ...env },
      stdio: "pipe",
    });
    const lines = Array.from({ length: 1_001 }, (_, i) => metric(`p${i}`, 1, 4));
    child.stdin.end([...lines, lines[0], "{"].join("\n"));
    const [out, err] = await Promise.all(
      [child.stdout, child.stderr].map(async (stream) =>
        Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString(),
      ),
    );
    if (child.exitCode === null) await once(child, "exit");
    expect({ code: child.exitCode, err }).toEqual({ code: 1, err: "" });
    expect(JSON.parse(out as string)).toMatchObject({
      accepted: 1_001,
      duplicates: 1,
      failed: 1,
      lines: [{ line: 1_003 }],
    });
  });

  it("a line may be as long as the limit and no longer; what is no UTF-8 is one wrong line", async () => {
    const read = async (...chunks: readonly Buffer[]) => Array.fromAsync(incomingLines(Readable.from(chunks), "x"));
    const text = (bytes: number) => Buffer.from(`"${"a".repeat(bytes - 2)}"`);
    expect(await read(text(lineBytesMax), Buffer.from("\n1"))).toMatchObject([{ line: 1 }, { line: 2, value: 1 }]);
    expect((await failure(read(text(lineBytesMax + 1), Buffer.from("\n1")))).code).toBe("LIMIT_EXCEEDED");
    expect(await read(Buffer.from([0x22, 0xff, 0x22, 0x0a, 0x31]))).toMatchObject([
      { line: 1, error: { code: "INVALID" } },
      { line: 2, value: 1 },
    ]);
  });
});

describe("the pieces of a file", () => {
  async function* lines(count: number, chars: number) {
    for (let line = 1; line <= count; line += 1) yield { line, value: {}, chars };
  }
  const wrong = (piece: readonly IncomingLine[]) => ({
    accepted: 0,
    duplicates: 0,
    failed: piece.length,
    lines: piece.map(({ line }) => ({ line, status: 400, error: { code: "INVALID", detail: "no" } })),
  });
  const sizes = async (count: number, chars: number): Promise<readonly number[]> => {
    const taken: number[] = [];
    await takeAll(lines(count, chars), async (piece) => {
      taken.push(piece.length);
      return wrong(piece);
    });
    return taken;
  };

  it("have so many lines and characters at most", async () => {
    expect(await sizes(pieceLinesMax, 1)).toEqual([pieceLinesMax]);
    expect(await sizes(pieceLinesMax + 1, 1)).toEqual([pieceLinesMax, 1]);
    expect(await sizes(2, pieceCharsMax / 2)).toEqual([2]);
    expect(await sizes(2, pieceCharsMax / 2 + 1)).toEqual([1, 1]);
    expect(await sizes(0, 0)).toEqual([]);
  });

  it("tell so many wrong lines at most, and how many there are", async () => {
    const result = async (count: number) => takeAll(lines(count, 1), async (piece) => wrong(piece));
    expect((await result(toldLinesMax)).lines).toHaveLength(toldLinesMax);
    expect(await result(toldLinesMax + 1)).toMatchObject({ failed: toldLinesMax + 1, lines: { length: toldLinesMax } });
    expect(resultText("x", await result(shownLinesMax))).not.toContain("more");
    expect(resultText("x", await result(shownLinesMax + 1))).toMatch(/\n {2}x:20: no\n {2}… and 1 more$/);
  });

  it("that are stored when a later one fails are told", async () => {
    let calls = 0;
    const failing = takeAll(lines(pieceLinesMax + 1, 1), async (piece) => {
      calls += 1;
      if (calls === 2) throw new PinakesError("UNAVAILABLE", "The store is away.");
      return { accepted: piece.length, duplicates: 0, failed: 0, lines: [] };
    });
    expect(await failure(failing)).toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      message: "The store is away. 1,000 lines before it are already stored.",
    });
  });
});

describe("pinakes metrics list, aggregate", () => {
  it("lists them, newest first, by agent, type and time", async () => {
    expect(await json("list", ...thatDay)).toMatchObject({
      items: [{ id: "m4" }, { id: "m3" }, { id: "m2" }, { id: "m1" }],
    });
    expect(
      await json("list", "--agent", "agent-1", "--type", "latency", "--order", "asc", "--limit", "1", ...thatDay),
    ).toMatchObject({
      items: [{ id: "m1" }],
    });
    expect((await call(["list", "--from", `${day}T02:00`, "--to", `${day}T03:00:00+00:00`])).out).toMatch(
      /^time +agent +type +value +model +id\n.* agent-2 +latency +200 +large +m3\n$/,
    );
    expect((await call(["list", "--workspace", "other"])).out).toContain("There are none in workspace other ");
    expect(await refused("list", "--type", "speed")).toBeInstanceOf(UsageError);
    expect((await refused("list", "--from", "yesterday")).message).toContain("24h or 7d");
    expect((await refused("list", "--from", "2026-03-02", "--to", day)).message).toContain("is not before --to");
  });

  it("aggregates by time and by what metrics are of", async () => {
    const asked = [
      "aggregate",
      "--by",
      "agent_id,model",
      "--bucket",
      "hour",
      "--values",
      "count,avg,p95",
      "--filter",
      "metric_type=latency",
      ...thatDay,
    ];
    expect(await json(...asked)).toMatchObject({
      items: [
        {
          bucket: `${day}T01:00:00.000Z`,
          group: { agent_id: "agent-1", model: "large" },
          values: { count: 1, avg: 70.25, p95: 70.25 },
        },
        { group: { model: "small" } },
        { group: { agent_id: "agent-2" } },
        { group: { model: "" } },
      ],
      rows_aggregated: 4,
    });
    expect((await call(asked)).out).toMatch(
      /^bucket +agent_id +model +count +avg +p95\n2026-03-01 01:00:00 +agent-1 +large +1 +70.25 +70.25\n[^]*\n\nOf 4 rows, from .* to .*\.\n$/,
    );
    expect(await json("aggregate", "--filter", "tool_name=", "--filter", "model=large", ...thatDay)).toMatchObject({
      items: [{ values: { count: 1, avg: 200 } }],
    });
    expect(await json("aggregate", "--filter", "model=", ...thatDay)).toMatchObject({ rows_aggregated: 1 });
    expect((await call(["aggregate", "--from", "1m", "--workspace", "other"])).out).toMatch(
      /^There is nothing from .* to .* in workspace other /,
    );
  });

  it("a mistake in an aggregate is told with what was meant", async () => {
    expect((await refused("aggregate", "--by", "agnt_id")).message).toBe(
      '--by: there is no "agnt_id"; did you mean agent_id?',
    );
    expect((await refused("aggregate", "--values", "count,median")).message).toContain("known values: count, sum, avg");
    expect((await refused("aggregate", "--values", "")).message).toContain("give at least one");
    for (const bucket of ["week", "0h", "5s", "1234567m"])
      expect(await refused("aggregate", "--bucket", bucket)).toBeInstanceOf(UsageError);
    expect((await refused("aggregate", "--filter", "model")).message).toContain("write name=value");
    expect((await refused("aggregate", "--filter", "model=a", "--filter", "model=b")).message).toContain(
      "specified twice",
    );
    expect((await refused("aggregate", "--from", "2020-01-01")).code).toBe("INVALID");
  });
});

describe("custom types and dimensions on the command line", () => {
  const own = (id: string, value: number, dimensions: object) =>
    JSON.stringify({
      id,
      agent_id: "a",
      metric_type: "custom.faithfulness",
      value,
      timestamp: "2026-03-05T01:00:00Z",
      dimensions,
    });

  it("are taken, listed, aggregated, named and forgotten", async () => {
    await writeFile(
      join(base, "own.ndjson"),
      [own("o1", 0.5, { region: "eu" }), own("o2", 1, { region: "us" }), own("o3", 0.25, {})].join("\n"),
    );
    const at = ["--workspace", "own", "--from", "2026-03-05", "--to", "2026-03-06"];
    expect((await call(["ingest", "own.ndjson", "--workspace", "own"])).out).toBe("3 lines accepted.\n");
    expect((await json<{ items: object[] }>("list", "--type", "custom.faithfulness", ...at)).items.length).toBe(3);
    const asked = [
      "aggregate",
      "--filter",
      "metric_type=custom.faithfulness",
      "--by",
      "dimensions.region",
      "--values",
      "avg",
      ...at,
    ];
    expect((await call(asked)).out).toMatch(/^dimensions\.region +avg\n– +0\.25\neu +0\.5\nus +1\n/);
    expect(await json("aggregate", "--filter", "dimensions.region=", ...at)).toMatchObject({ rows_aggregated: 1 });
    expect(await json("aggregate", "--filter", "dimensions.region=eu", ...at)).toMatchObject({ rows_aggregated: 1 });
    expect((await call(["names", "--workspace", "own"])).out).toBe(
      "Types (1 of 200):\n  custom.faithfulness\nDimensions (1 of 100):\n  dimensions.region\n",
    );
    expect(await json("names", "--workspace", "own", "--forget", "dimensions.region")).toMatchObject({
      dimensions: [],
    });
    expect((await refused("names", "--workspace", "own", "--forget", "dimensions.region")).code).toBe("NOT_FOUND");
    expect((await refused("list", "--type", "faithfulness", ...at)).message).toContain("or custom.<name>");
    expect((await refused("aggregate", "--by", "dimensions.Region", ...at)).message).toContain("dimensions.<name>");
  });
});

describe("--from and --to", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  const read = (from: string) => rangeOf(new Given({ from }), now).from;

  it("are a day, a time, or so long ago; without a zone it is UTC", () => {
    expect(
      ["2026-02-28", "2026-02-28T06:00", "2026-02-28T06:00:01.5Z", "2026-02-28T06:00:00+02:00", "90m", "24h", "7d"].map(
        read,
      ),
    ).toEqual([
      "2026-02-28T00:00:00.000Z",
      "2026-02-28T06:00:00.000Z",
      "2026-02-28T06:00:01.500Z",
      "2026-02-28T04:00:00.000Z",
      "2026-03-01T10:30:00.000Z",
      "2026-02-28T12:00:00.000Z",
      "2026-02-22T12:00:00.000Z",
    ]);
    for (const wrong of ["2026-02-30", "2026-13-01", "2026-02-28T25:00", "5", "7w", "123456d", "now", ""])
      expect(() => read(wrong), wrong).toThrow(UsageError);
  });
});
