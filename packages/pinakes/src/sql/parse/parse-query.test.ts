import { describe, expect, it } from "vitest";
import { hasCode } from "../../domain/errors.ts";
import { documentPath } from "../ast.ts";
import { sqlLimits } from "../limits.ts";
import { parseQuery } from "./parse-query.ts";

function refusal(text: string): string {
  try {
    parseQuery(text);
  } catch (error) {
    if (hasCode(error, "INVALID")) return error.detail;
    throw error;
  }
  throw new Error(`parsed: ${text.slice(0, 200)}`);
}

describe("a query", () => {
  it("is read with all its clauses, keywords in any case, and comments", () => {
    const query = parseQuery(`select distinct top @n c.a, c["b c"] as x, 1 + 2, c.arr[0] -- a comment
      from root c join t in c.tags join u in t.more
      where not c.value = 1 and c.order IN (1, 2) order by c.a desc, c["b c"] asc`);
    expect(query).toMatchObject({ distinct: true, top: { parameter: "n" }, root: "c", aggregates: false });
    expect(query.select).toMatchObject({
      kind: "list",
      items: [{ name: "a" }, { name: "x" }, { name: "$1" }, { name: "$2" }],
    });
    expect(query.joins.map(({ alias, slot }) => [alias, slot])).toEqual([
      ["t", 1],
      ["u", 2],
    ]);
    expect(query.orderBy.map(({ expression, descending }) => [documentPath(expression), descending])).toEqual([
      [["a"], true],
      [["b c"], false],
    ]);
    expect(query.where).toMatchObject({
      kind: "logical",
      operator: "AND",
      parts: [{ kind: "unary", operator: "NOT", operand: { kind: "binary", operator: "=" } }, { kind: "in" }],
    });
  });

  it("keeps the usual precedence", () => {
    const where = (text: string) => JSON.stringify(parseQuery(`SELECT * FROM c WHERE ${text}`).where);
    expect(where("c.a = 1 OR c.b = 2 AND c.d = 3")).toBe(where("c.a = 1 OR (c.b = 2 AND c.d = 3)"));
    expect(where("NOT c.a = 1 AND c.b")).toBe(where("(NOT (c.a = 1)) AND c.b"));
    expect(where("c.a + 2 * 3 = 7")).toBe(where("(c.a + (2 * 3)) = 7"));
    expect(where("c.a || 'x' = 'yx'")).toBe(where("(c.a || 'x') = 'yx'"));
    expect(where("c.a ?? c.b = 1")).toBe(where("c.a ?? (c.b = 1)"));
    expect(where("c.a ? 1 : c.b ? 2 : 3")).toBe(where("c.a ? 1 : (c.b ? 2 : 3)"));
    expect(where("c.a BETWEEN 1 AND 2 AND c.b")).toBe(where("(c.a BETWEEN 1 AND 2) AND c.b"));
    expect(where("- c.a - -1 = 0")).toBe(where("((-c.a) - (-1)) = 0"));
  });

  it.each([
    ["SELECT * FORM c", 'query: syntax error at line 1, column 10: expected FROM, got "FORM".'],
    ["SELECT * FROM c WHERE c.a = ", "query: syntax error at line 1, column 29: expected a value, the query ended."],
    [
      "SELECT *\nFROM c\nWHERE x = 1",
      'query: syntax error at line 3, column 7: "x" is not an alias of this query (known: "c"); qualify properties with one: c.x.',
    ],
    ["SELECT * FROM c WHERE c.a = 'x", "query: syntax error at line 1, column 29: the string is not closed; add '."],
    [
      "SELECT * FROM c WHERE c.a = 'a\\q'",
      'query: syntax error at line 1, column 31: "\\q" is not an escape; write "\\\\" for a backslash.',
    ],
    [
      "SELECT * FROM c LIMIT 5",
      "query: syntax error at line 1, column 17: LIMIT requires OFFSET: OFFSET 0 LIMIT 10 (or SELECT TOP 10).",
    ],
    [
      "SELECT c.a, c.a FROM c",
      'query: syntax error at line 1, column 17: two values of SELECT are named "a"; rename one with AS.',
    ],
    [
      "SELECT * FROM c JOIN t IN c.x",
      "query: syntax error at line 1, column 8: SELECT * selects one document and is not allowed with JOIN; select values explicitly, such as SELECT VALUE c.",
    ],
    ["SELECT VALUE LOWER() FROM c", "query: syntax error at line 1, column 14: LOWER takes 1 argument, got 0."],
    [
      "SELECT * FROM c WHERE COUNT(1) > 2",
      "query: syntax error at line 1, column 17: WHERE applies to single documents and cannot contain an aggregate.",
    ],
    [
      "SELECT c.a, COUNT(1) FROM c GROUP BY c.b",
      'query: syntax error at line 1, column 29: "c" is selected beside aggregates but is not in GROUP BY; add the property to GROUP BY or aggregate it.',
    ],
    [
      "SELECT DISTINCT c.a FROM c ORDER BY c.b",
      "query: syntax error at line 1, column 28: with DISTINCT, every value of ORDER BY must also be selected.",
    ],
    ["SELECT * FROM c; DROP TABLE c", 'query: syntax error at line 1, column 16: ";" is unexpected here.'],
    [
      "SELECT * FROM c WHERE c.a = 1 2",
      'query: syntax error at line 1, column 31: expected the end of the query, got "2".',
    ],
    [
      "SELECT * FROM c WHERE c.a = 1e999",
      "query: syntax error at line 1, column 29: 1e999 is too large for a JSON number.",
    ],
    [
      "SELECT * FROM c ORDER BY 1",
      "query: syntax error at line 1, column 26: ORDER BY needs a property, such as c.created_at.",
    ],
    [
      "SELECT VALUE {a: 1, a: 2} FROM c",
      'query: syntax error at line 1, column 21: the property "a" is specified twice.',
    ],
    [
      "SELECT * FROM c JOIN c IN c.x",
      'query: syntax error at line 1, column 22: the alias "c" is already taken; choose another.',
    ],
  ])("%s is refused where it is wrong", (text, detail) => {
    expect(refusal(text)).toBe(detail);
  });

  it.each([
    ["SELECT VALUE udf.tax(c.a) FROM c", "user-defined functions (udf.…)"],
    ["SELECT * FROM c WHERE ST_DISTANCE(c.a, c.b) < 5", "the function ST_DISTANCE of Cosmos DB; known are IS_DEFINED"],
    ["SELECT * FROM c WHERE VectorDistance(c.a, c.b) < 5", "the function VECTORDISTANCE of Cosmos DB"],
    ["SELECT * FROM c WHERE foo(c.a)", "an unknown function foo"],
    ["SELECT * FROM c ORDER BY RANK FullTextScore(c.a, 'x')", "ORDER BY RANK (order by a score)"],
    ["SELECT * FROM (SELECT c.a FROM c) AS t", "a subquery without VALUE"],
    ["SELECT VALUE t FROM c JOIN (SELECT VALUE d FROM d) AS t", "a subquery over anything but an array"],
    ["SELECT * FROM c.items", "a path in FROM; use FROM c and JOIN t IN c.items"],
    ["SELECT * FROM c WHERE c.a & 1 = 1", "the bitwise operator &"],
    ["SELECT * FROM c WHERE c.a << 1 = 1", "the bitwise operator <<"],
    [
      "SELECT VALUE (SELECT VALUE 1) FROM c",
      "a subquery in parentheses; use EXISTS(SELECT VALUE …) or ARRAY(SELECT VALUE …)",
    ],
    ["SELECT * FROM c WHERE c.a IN (SELECT VALUE 1)", "a subquery after IN; use EXISTS(SELECT VALUE …)"],
    ["SELECT * FROM c WHERE EXISTS(SELECT TOP 1 VALUE t FROM t IN c.x)", "TOP in a subquery"],
    ["SELECT * FROM c WHERE EXISTS(SELECT t FROM t IN c.x)", "a subquery without VALUE; write SELECT VALUE …"],
    ["SELECT VALUE ARRAY(SELECT VALUE COUNT(1) FROM t IN c.x) FROM c", "an aggregate in a subquery"],
    ["SELECT c.a FROM c GROUP BY c.a ORDER BY c.a", "ORDER BY together with GROUP BY"],
    ["SELECT c.s, COUNT(1) AS n FROM c GROUP BY c.s HAVING n > 1", "HAVING (nor has Cosmos DB); filter the groups"],
    ["SELECT * FROM c HAVING c.n > 1", "HAVING"],
    ["SELECT VALUE COUNT(*) FROM c", "COUNT(*); use COUNT(1)"],
    ["SELECT * FROM c WHERE c.a IS NULL", "IS NULL and IS NOT NULL; use IS_NULL(c.x)"],
    ["SELECT c.a IS NULL FROM c", "use IS_NULL(c.x)"],
    ["SELECT * FROM c WHERE c.a == 1", "==; use ="],
    ["SELECT VALUE c FROM c JOIN d ON c.id = d.id", "a JOIN of two containers; a query reads one"],
    ["SELECT VALUE c FROM c JOIN other d ON c.id = d.id", "JOIN t IN c.items"],
    ["SELECT * FROM c LEFT JOIN d ON c.id = d.id", "JOIN t IN c.items"],
    ["INSERT INTO c VALUES (1)", "a statement that modifies data; a query starts with SELECT and is read-only"],
    ["UPDATE c SET c.a = 1", "use the container's create, patch, delete or bulk"],
    ["WITH x AS (SELECT * FROM c) SELECT * FROM x", "WITH (named subqueries); start with SELECT"],
    ["SELECT * FROM c UNION SELECT * FROM c", "UNION, EXCEPT and INTERSECT"],
    ['SELECT c.a AS "key" FROM c', "a name in quotes after AS; write it without them"],
    ["SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1", "TOP together with OFFSET and LIMIT; use one of them"],
  ])("%s is named as not supported", (text, what) => {
    const detail = refusal(text);
    expect(detail).toMatch(/^query: not supported at line 1, column \d+: /);
    expect(detail).toContain(what);
  });

  it("words of other dialects are names where only a name can stand", () => {
    for (const text of [
      "SELECT c.on AS on FROM c",
      "SELECT c.update, c.left FROM c WHERE c.having = 1",
      "SELECT VALUE update FROM c AS update",
      "SELECT * FROM left",
    ])
      expect(() => parseQuery(text)).not.toThrow();
  });

  it("has a limit on everything, and stands at each", () => {
    const list = (count: number) => Array.from({ length: count }, (_, i) => String(i)).join(", ");
    const at: readonly (readonly [number, (count: number) => string, RegExp])[] = [
      [sqlLimits.textCharsMax, (count) => "SELECT * FROM c".padEnd(count, " "), /characters; at most 65536/],
      [
        sqlLimits.listItemsMax,
        (count) => `SELECT * FROM c WHERE c.a IN (${list(count)})`,
        /more than 1000 values in an IN/,
      ],
      [sqlLimits.listItemsMax, (count) => `SELECT VALUE [${list(count)}] FROM c`, /more than 1000 elements/],
      [
        sqlLimits.listItemsMax,
        (count) => `SELECT * FROM c WHERE ${Array.from({ length: count }, () => "c.a").join(" OR ")}`,
        /more than 1000 conditions joined by OR/,
      ],
      [
        sqlLimits.selectItemsMax,
        (count) => `SELECT ${Array.from({ length: count }, (_, i) => `c.p${i}`).join(", ")} FROM c`,
        /more than 100 values in SELECT/,
      ],
      [
        sqlLimits.joinsMax,
        (count) => `SELECT VALUE 1 FROM c ${Array.from({ length: count }, (_, i) => `JOIN t${i} IN c.x`).join(" ")}`,
        /more than 5 JOINs/,
      ],
      [
        sqlLimits.orderKeysMax,
        (count) => `SELECT * FROM c ORDER BY ${Array.from({ length: count }, (_, i) => `c.p${i}`).join(", ")}`,
        /more than 8 values in ORDER BY/,
      ],
      [
        sqlLimits.groupKeysMax,
        (count) => `SELECT COUNT(1) FROM c GROUP BY ${Array.from({ length: count }, (_, i) => `c.p${i}`).join(", ")}`,
        /more than 8 values in GROUP BY/,
      ],
      [
        sqlLimits.depthMax,
        (count) => `SELECT VALUE ${"(".repeat(count - 1)}1${")".repeat(count - 1)} FROM c`,
        /nested deeper than 64/,
      ],
      [sqlLimits.depthMax, (count) => `SELECT VALUE 1${" + 1".repeat(count)} FROM c`, /more than 64 operators/],
      [sqlLimits.offsetMax, (count) => `SELECT TOP ${count} * FROM c`, /a whole number from 0 to 1000000/],
    ];
    for (const [max, text, message] of at) {
      expect(() => parseQuery(text(max))).not.toThrow();
      expect(refusal(text(max + 1))).toMatch(message);
    }
  });
});
