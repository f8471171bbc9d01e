/**
 * Functions, aggregates and subqueries that the specifications of Cosmos DB's clients use, on four engines: each on every value of the
 * documents, compared with plain JavaScript that knows nothing of the language.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { functionNames } from "../../src/sql/expressions/functions.ts";
import { container, Documents } from "./support/container.ts";
import { engineNames, engines } from "./support/engines.ts";
import { order, text, type Value } from "./support/oracle.ts";

const store = engines(container);

const values: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  -2.5,
  7,
  1e21,
  "",
  "a",
  " Ab c ",
  "aXbXc",
  "12",
  " -1.5e3 ",
  "true",
  "null",
  "[1,2]",
  '{"k":1}',
  "é\u{1f600}x",
  "2021-03-04T05:06:07.1234567Z",
  "1999-12-31T23:59:59.0000000Z",
  "2021-13-01T00:00:00Z",
  [],
  [1, 2, 3],
  [3, 1, 2, 2],
  ["a", "b"],
  [1, "a", null, [1]],
  { k: 1 },
  { a: [1], b: "x" },
];
const documents: readonly JsonObject[] = [
  ...values.map((v, i): JsonObject => ({ id: `v${String(i).padStart(2, "0")}`, p: `p${i % 3}`, w: "a", v })),
  { id: "without", p: "p0", w: "a" },
];

type Of = (value: Value) => Value;
const onText =
  (of: (t: string) => Value): Of =>
  (value) =>
    typeof value === "string" ? of(value) : undefined;
const onNumber =
  (of: (n: number) => number): Of =>
  (value) => {
    const found = typeof value === "number" ? of(value) : NaN;
    return Number.isFinite(found) ? found : undefined;
  };
const onArray =
  (of: (a: readonly JsonValue[]) => Value): Of =>
  (value) =>
    Array.isArray(value) ? of(value as readonly JsonValue[]) : undefined;
const json = (kind: (value: unknown) => boolean): Of =>
  onText((t) => {
    try {
      const value = JSON.parse(t) as JsonValue;
      return kind(value) ? value : undefined;
    } catch {
      return undefined;
    }
  });
const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
const numbers = (of: (a: readonly number[]) => Value): Of =>
  onArray((a) => (a.every((item) => typeof item === "number") ? of(a) : undefined));
const has = (a: readonly JsonValue[], value: JsonValue) => a.some((item) => text(item) === text(value));
const set = (a: readonly JsonValue[]) =>
  a.filter((item, i) => a.findIndex((other) => text(other) === text(item)) === i);
const times: Readonly<Record<string, string>> = {
  "2021-03-04T05:06:07.1234567Z": "",
  "1999-12-31T23:59:59.0000000Z": "",
};
const onTime = (of: (date: Date, iso: string) => Value): Of =>
  onText((t) => (Object.hasOwn(times, t) ? of(new Date(t), t) : undefined));

/** With the digits after the milliseconds as they were. */
const moved = (date: Date, iso: string) => `${date.toISOString().slice(0, 23)}${iso.slice(23)}`;

/** The expression on c.v, and what it must be. */
const cases: Readonly<Record<string, Of>> = {
  "IS_DEFINED(c.v)": (value) => value !== undefined,
  "IS_NULL(c.v)": (value) => value === null,
  "IS_STRING(c.v)": (value) => typeof value === "string",
  "IS_NUMBER(c.v)": (value) => typeof value === "number",
  "IS_BOOL(c.v)": (value) => typeof value === "boolean",
  "IS_ARRAY(c.v)": (value) => Array.isArray(value),
  "IS_OBJECT(c.v)": isObject,
  "CONTAINS(c.v, 'xb')": onText((t) => t.indexOf("xb") >= 0),
  "CONTAINS(c.v, 'xb', true)": onText((t) => /xb/i.test(t)),
  "STARTSWITH(c.v, 'A')": onText((t) => t[0] === "A"),
  "STARTSWITH(c.v, 'A', true)": onText((t) => /^a/i.test(t)),
  "ENDSWITH(c.v, 'C', true)": onText((t) => /c$/i.test(t)),
  "ENDSWITH(c.v, 'c')": onText((t) => t.at(-1) === "c"),
  "LOWER(c.v)": onText((t) => Array.from(t, (char) => char.toLowerCase()).join("")),
  "UPPER(c.v)": onText((t) => Array.from(t, (char) => char.toUpperCase()).join("")),
  "LENGTH(c.v)": onText((t) => t.length),
  "SUBSTRING(c.v, 1, 2)": onText((t) => t.substring(1, 3)),
  "CONCAT(c.v, '-', c.v)": onText((t) => `${t}-${t}`),
  "ARRAY_CONTAINS(c.v, 1)": onArray((a) => a.indexOf(1) >= 0),
  "ARRAY_LENGTH(c.v)": onArray((a) => a.length),
  "ABS(c.v)": onNumber((n) => (n < 0 ? -n : n)),
  "FLOOR(c.v)": onNumber((n) => (n % 1 === 0 ? n : n > 0 ? n - (n % 1) : n - (n % 1) - 1)),
  "CEILING(c.v)": onNumber((n) => (n % 1 === 0 ? n : n > 0 ? n - (n % 1) + 1 : n - (n % 1))),
  "ROUND(c.v)": onNumber((n) => (n < 0 ? -Math.floor(-n + 0.5) : Math.floor(n + 0.5))),
  "GetCurrentTimestamp() = DateTimeToTimestamp(GetCurrentDateTime())": () => true,
  "GetCurrentTimestampStatic() = DateTimeToTimestamp(GetCurrentDateTimeStatic())": () => true,
  "GetCurrentTicks() = DateTimeToTicks(GetCurrentDateTime())": () => true,
  "GetCurrentTicksStatic() = DateTimeToTicks(GetCurrentDateTimeStatic())": () => true,
  "GetCurrentTimestamp() > 1760000000000": () => true,
  "DateTimeAdd('day', 1, c.v)": onTime((date, iso) => moved(new Date(date.getTime() + 86_400_000), iso)),
  "DateTimeAdd('hh', -7, c.v)": onTime((date, iso) => moved(new Date(date.getTime() - 25_200_000), iso)),
  "DateTimeAdd('yyyy', 1, c.v)": onTime((date, iso) =>
    moved(new Date(`${date.getUTCFullYear() + 1}${date.toISOString().slice(4)}`), iso),
  ),
  "DateTimeAdd('day', 0.5, c.v)": () => undefined,
  "ToString(c.v)": (value) => (typeof value === "string" || value === undefined ? value : JSON.stringify(value)),
  "StringToNumber(c.v)": json((value) => typeof value === "number"),
  "StringToBoolean(c.v)": json((value) => typeof value === "boolean"),
  "StringToNull(c.v)": json((value) => value === null),
  "StringToArray(c.v)": json(Array.isArray),
  "StringToObject(c.v)": json(isObject),
  "REPLACE(c.v, 'X', '--')": onText((t) => t.split("X").join("--")),
  "REPLACE(c.v, '', 'y')": onText((t) => t),
  "REVERSE(c.v)": onText((t) => Array.from(t).toReversed().join("")),
  "REPLICATE(c.v, 3)": onText((t) => t + t + t),
  "LEFT(c.v, 2)": onText((t) => t.substring(0, 2)),
  "RIGHT(c.v, 2)": onText((t) => t.substring(Math.max(0, t.length - 2))),
  "LEFT(c.v, -1)": onText(() => ""),
  "RIGHT(c.v, 0)": onText(() => ""),
  "TRIM(c.v)": onText((t) => t.replace(/^\s+|\s+$/g, "")),
  "LTRIM(c.v)": onText((t) => t.replace(/^\s+/, "")),
  "RTRIM(c.v)": onText((t) => t.replace(/\s+$/, "")),
  "INDEX_OF(c.v, 'X')": onText((t) => t.search("X")),
  "INDEX_OF(c.v, 'X', 2)": onText((t) => {
    const at = t.slice(2).search("X");
    return at < 0 ? -1 : at + 2;
  }),
  "StringEquals(c.v, 'AXBXC', true)": onText((t) => t.toUpperCase() === "AXBXC"),
  "StringEquals(c.v, 'AXBXC')": onText((t) => t === "AXBXC"),
  "StringSplit(c.v, 'X')": onText((t) => t.split("X")),
  "StringJoin(c.v, '+')": onArray((a) => (a.every((item) => typeof item === "string") ? a.join("+") : undefined)),
  "REGEXMATCH(c.v, '^a.*c$')": onText((t) => /^a.*c$/.test(t)),
  "SQRT(c.v)": onNumber(Math.sqrt),
  "SQUARE(c.v)": onNumber((n) => n * n),
  "POWER(c.v, 2)": onNumber((n) => n ** 2),
  "EXP(c.v)": onNumber(Math.exp),
  "LOG(c.v)": onNumber(Math.log),
  "LOG(c.v, 2)": onNumber((n) => Math.log(n) / Math.log(2)),
  "LOG10(c.v)": onNumber(Math.log10),
  "SIGN(c.v)": onNumber((n) => (n > 0 ? 1 : n < 0 ? -1 : 0)),
  "TRUNC(c.v)": onNumber((n) => (n < 0 ? Math.ceil(n) : Math.floor(n))),
  "SIN(c.v)": onNumber(Math.sin),
  "COS(c.v)": onNumber(Math.cos),
  "TAN(c.v)": onNumber(Math.tan),
  "ASIN(c.v)": onNumber(Math.asin),
  "ACOS(c.v)": onNumber(Math.acos),
  "ATAN(c.v)": onNumber(Math.atan),
  "ATN2(c.v, 2)": onNumber((n) => Math.atan2(n, 2)),
  "COT(c.v)": onNumber((n) => 1 / Math.tan(n)),
  "DEGREES(c.v)": onNumber((n) => (n * 180) / Math.PI),
  "RADIANS(c.v)": onNumber((n) => (n * Math.PI) / 180),
  "PI()": () => Math.PI,
  "IS_INTEGER(c.v)": (value) => typeof value === "number" && value % 1 === 0,
  "IS_FINITE_NUMBER(c.v)": (value) => typeof value === "number",
  "IS_PRIMITIVE(c.v)": (value) => value === null || ["string", "number", "boolean"].includes(typeof value),
  "ARRAY_CONCAT(c.v, [9], c.v)": onArray((a) => [...a, 9, ...a]),
  "ARRAY_SLICE(c.v, 1)": onArray((a) => a.filter((_, i) => i >= 1)),
  "ARRAY_SLICE(c.v, 1, 1)": onArray((a) => a.filter((_, i) => i === 1)),
  "ARRAY_SLICE(c.v, -2)": onArray((a) => a.filter((_, i) => i >= a.length - 2)),
  "ARRAY_SLICE(c.v, -2, 1)": onArray((a) => a.filter((_, i) => i === Math.max(0, a.length - 2))),
  "ARRAY_CONTAINS_ANY(c.v, 1, 'b')": onArray((a) => has(a, 1) || has(a, "b")),
  "ARRAY_CONTAINS_ALL(c.v, 1, 2)": onArray((a) => has(a, 1) && has(a, 2)),
  "ARRAY_SUM(c.v)": numbers((a) => {
    let total = 0;
    for (const n of a) total += n;
    return total;
  }),
  "ARRAY_AVG(c.v)": numbers((a) => (a.length === 0 ? undefined : a.reduce((x, y) => x + y, 0) / a.length)),
  "ARRAY_MEDIAN(c.v)": numbers((a) => {
    const s = [...a].sort((x, y) => x - y);
    const m = s.length >> 1;
    return s.length % 2 ? s[m] : s.length === 0 ? undefined : ((s[m - 1] as number) + (s[m] as number)) / 2;
  }),
  "ARRAY_MIN(c.v)": onArray((a) => [...a].sort(order)[0]),
  "ARRAY_MAX(c.v)": onArray((a) => [...a].sort(order)[a.length - 1]),
  "SetUnion(c.v, [2, 9])": onArray((a) => set([...a, 2, 9])),
  "SetIntersect(c.v, [2, 'a', 9])": onArray((a) => set(a).filter((item) => has([2, "a", 9], item))),
  "ObjectToArray(c.v)": (value) =>
    isObject(value) ? Object.entries(value as JsonObject).map(([k, v]) => ({ k, v: v as JsonValue })) : undefined,
  "CHOOSE(2, 'x', c.v)": (value) => value,
  "CHOOSE(3, 'x', c.v)": () => undefined,
  "IIF(IS_STRING(c.v), 1, c.v)": (value) => (typeof value === "string" ? 1 : value),
  "DateTimePart('yyyy', c.v)": onTime((date) => date.getUTCFullYear()),
  "DateTimePart('month', c.v)": onTime((date) => date.getUTCMonth() + 1),
  "DateTimePart('dd', c.v)": onTime((date) => date.getUTCDate()),
  "DateTimePart('hh', c.v)": onTime((date) => date.getUTCHours()),
  "DateTimePart('mi', c.v)": onTime((date) => date.getUTCMinutes()),
  "DateTimePart('ss', c.v)": onTime((date) => date.getUTCSeconds()),
  "DateTimePart('ms', c.v)": onTime((date) => date.getUTCMilliseconds()),
  "DateTimePart('mcs', c.v)": onTime((_, iso) => Number(iso.slice(20, 26))),
  "DateTimePart('ns', c.v)": onTime((_, iso) => Number(iso.slice(20, 27)) * 100),
  "DateTimePart('week', c.v)": () => undefined,
  "DateTimeToTimestamp(c.v)": onTime((date) => date.getTime()),
  "DateTimeToTicks(c.v)": onTime((date, iso) =>
    Number(BigInt(date.getTime()) * 10_000n + BigInt(iso.slice(23, 27)) + 621_355_968_000_000_000n),
  ),
  "TimestampToDateTime(DateTimeToTimestamp(c.v))": onTime((date) => date.toISOString().replace("Z", "0000Z")),
  "TicksToDateTime(630822815990000000)": () => "1999-12-31T23:59:59.0000000Z",
  "DateTimeDiff('day', c.v, '2021-03-05T00:00:00Z')": onTime((date) =>
    Math.round(
      (Date.UTC(2021, 2, 5) - Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())) / 86_400_000,
    ),
  ),
  "DateTimeDiff('month', c.v, '2021-03-05T00:00:00Z')": onTime(
    (date) => (2021 - date.getUTCFullYear()) * 12 + 2 - date.getUTCMonth(),
  ),
  "DateTimeDiff('year', c.v, '2021-03-05T00:00:00Z')": onTime((date) => 2021 - date.getUTCFullYear()),
  "DateTimeDiff('hour', '2021-03-05T00:00:00Z', c.v)": onTime(
    (date) => Math.floor(date.getTime() / 3_600_000) - Date.UTC(2021, 2, 5) / 3_600_000,
  ),
  "DateTimeBin(c.v, 'day')": onTime((date) => `${date.toISOString().slice(0, 10)}T00:00:00.0000000Z`),
  "DateTimeBin(c.v, 'hh', 5)": onTime((date) =>
    new Date(Math.floor(date.getTime() / 18_000_000) * 18_000_000).toISOString().replace("Z", "0000Z"),
  ),
  "DateTimeFromParts(2021, 2, 28, 1, 2, 3, 4)": () => "2021-02-28T01:02:03.0000004Z",
  "DateTimeFromParts(2021, 2, 29)": () => undefined,
};

it("R-AGT-58 every function of the language is compared with plain JavaScript", () => {
  const called = new Set(Object.keys(cases).flatMap((call) => call.toUpperCase().match(/\w+(?=\()/g) ?? []));
  expect(functionNames.filter((name) => !called.has(name))).toEqual([]);
});

describe.each(engineNames)("functions on %s", (name) => {
  it("R-AGT-58 each function of Cosmos DB's clients equals plain JavaScript on every value", async () => {
    const data = new Documents(store(name));
    await data.put(documents);
    for (const [expression, of] of Object.entries(cases)) {
      const wanted = documents.map(({ id, v }) => {
        const r = of(v);
        return r === undefined ? { id } : { id, r };
      });
      const found = await data.walk(`SELECT c.id, ${expression} AS r FROM c`);
      const sorted = (found as JsonObject[]).toSorted((a, b) => ((a["id"] as string) < (b["id"] as string) ? -1 : 1));
      expect({ expression, found: sorted }).toEqual({
        expression,
        found: wanted.toSorted((a, b) => ((a.id as string) < (b.id as string) ? -1 : 1)),
      });
    }
  });

  it("R-AGT-58 functions in WHERE keep what plain JavaScript keeps", async () => {
    const data = new Documents(store(name));
    await data.put(documents);
    for (const [expression, of] of Object.entries(cases)) {
      const found = await data.walk(`SELECT VALUE c.id FROM c WHERE IS_DEFINED(${expression})`);
      expect({ expression, ids: found.toSorted() }).toEqual({
        expression,
        ids: documents
          .filter(({ v }) => of(v) !== undefined)
          .map(({ id }) => id)
          .toSorted(),
      });
    }
  });

  it("R-AGT-58 COUNTIF, MAKELIST and MAKESET, alone and by group", async () => {
    const data = new Documents(store(name));
    await data.put(documents.map((document, i) => ({ ...document, n: i % 4 })));
    expect(await data.walk("SELECT VALUE COUNTIF(IS_STRING(c.v)) FROM c")).toEqual([
      values.filter((v) => typeof v === "string").length,
    ]);
    const [list] = await data.walk("SELECT VALUE MAKELIST(c.n) FROM c");
    expect((list as number[]).toSorted()).toEqual(documents.map((_, i) => i % 4).toSorted());
    const [one] = await data.walk("SELECT VALUE MAKESET(c.n) FROM c");
    expect((one as number[]).toSorted()).toEqual([0, 1, 2, 3]);
    expect(await data.walk("SELECT VALUE MAKELIST(c.none) FROM c")).toEqual([[]]);
    const grouped = (await data.walk(
      "SELECT c.n, MAKESET(c.p) AS ps, COUNTIF(c.p = 'p0') AS zeros FROM c GROUP BY c.n",
    )) as JsonObject[];
    for (const { n, ps, zeros } of grouped) {
      const of = documents.filter((_, i) => i % 4 === n);
      expect([...(ps as string[])].sort()).toEqual([...new Set(of.map(({ p }) => p as string))].sort());
      expect(zeros).toBe(of.filter(({ p }) => p === "p0").length);
    }
    expect(await data.walk("SELECT VALUE SUM(c.n) FROM c ORDER BY c.n")).toEqual([
      documents.reduce((total, _, i) => total + (i % 4), 0),
    ]);
  });

  it("R-AGT-58 subqueries in FROM and JOIN", async () => {
    const data = new Documents(store(name));
    await data.put(documents);
    const arrays = documents.filter(({ v }) => Array.isArray(v));
    const ask = async (query: string) => (await data.walk(query)).map(text).toSorted();
    const texts = (wanted: readonly Value[]) =>
      wanted
        .filter((value) => value !== undefined)
        .map(text)
        .toSorted();
    expect(await ask("SELECT * FROM (SELECT VALUE { i: d.id, v: d.v } FROM d WHERE IS_NUMBER(d.v)) AS t")).toEqual(
      texts(
        documents.filter(({ v }) => typeof v === "number").map(({ id, v }) => ({ i: id as string, v: v as number })),
      ),
    );
    expect(await ask("SELECT VALUE t.i FROM (SELECT VALUE { i: d.id, v: d.v } FROM d) t WHERE t.v = 7")).toEqual(
      texts(documents.filter(({ v }) => v === 7).map(({ id }) => id)),
    );
    expect(await ask("SELECT VALUE x FROM (SELECT VALUE e FROM e IN d.v WHERE IS_NUMBER(e)) x")).toEqual(
      texts(arrays.flatMap(({ v }) => (v as JsonValue[]).filter((item) => typeof item === "number"))),
    );
    expect(await ask("SELECT c.id, x FROM c JOIN (SELECT VALUE e FROM e IN c.v WHERE e = 1) AS x")).toEqual(
      texts(
        arrays.flatMap(({ id, v }) =>
          (v as JsonValue[]).filter((item) => item === 1).map((x) => ({ id: id as string, x })),
        ),
      ),
    );
    expect(
      await ask(
        "SELECT VALUE COUNT(1) FROM c JOIN (SELECT VALUE e FROM e IN c.v) x JOIN (SELECT VALUE e FROM e IN c.v) y",
      ),
    ).toEqual(texts([arrays.reduce((total, { v }) => total + (v as JsonValue[]).length ** 2, 0)]));
  });
});
