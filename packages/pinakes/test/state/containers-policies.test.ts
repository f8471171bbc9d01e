/** Indexing policies: how they are read, which path decides, and the indexes that come of them. */
import { describe, expect, it } from "vitest";
import { hasCode } from "../../src/domain/errors.ts";
import { compositeIndexesMax, compilePolicy, policyPathsMax } from "../../src/state/containers/indexing-policy.ts";
import { compileSpec, specBytesMax } from "../../src/state/containers/container-spec.ts";
import { pathCharsMax } from "../../src/state/containers/policy-path.ts";
import { workflowStates } from "../../src/state/workflows/workflow-states.ts";

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (hasCode(error, "INVALID", "LIMIT_EXCEEDED")) return error.detail;
    throw error;
  }
  throw new Error("it was accepted");
};
const path = (text: string) => ({ path: text });

describe("indexing policies", () => {
  it("R-AGT-61 E1 without a root path everything that is not named is excluded; with one it stays as it is", () => {
    const bare = compilePolicy({ includedPaths: [path("/status/?")], excludedPaths: [path("/_etag/?")] });
    expect(bare.normalised).toEqual({
      indexingMode: "consistent",
      automatic: true,
      includedPaths: [path("/status/?")],
      excludedPaths: [path("/_etag/?"), path("/*")],
      compositeIndexes: [],
    });
    expect([bare.covers(["status"]), bare.covers(["other"]), bare.covers(["id"]), bare.covers(["_ts"])]).toEqual([
      true,
      false,
      true,
      true,
    ]);
    const rooted = compilePolicy({ includedPaths: [path("/*")], excludedPaths: [path("/big/*")] });
    expect(rooted.normalised.excludedPaths).toEqual([path("/big/*"), path("/_etag/?")]);
    expect([
      rooted.covers(["x", "y"]),
      rooted.covers(["big"]),
      rooted.covers(["big", "a"]),
      rooted.covers(["_etag"]),
    ]).toEqual([true, false, false, false]);
  });

  it("R-AGT-61 E2 a star in the middle means the elements of an array", () => {
    const { normalised } = compilePolicy(workflowStates.policy);
    expect(normalised.excludedPaths).toEqual([
      path("/_etag/?"),
      path("/agents/[]/result/*"),
      path("/checkpoints/[]/state/*"),
      path("/*"),
    ]);
    const written = compilePolicy({ excludedPaths: [path("/agents/[]/result/*")], includedPaths: [path("/*")] });
    expect(written.normalised.excludedPaths?.[0]).toEqual(path("/agents/[]/result/*"));
    expect(
      compilePolicy({ includedPaths: [path("/*/x/?"), path('/"a b"/?'), path('/"with/slash"/*')] }).normalised
        .includedPaths,
    ).toEqual([path("/[]/x/?"), path('/"a b"/?'), path('/"with/slash"/*')]);
  });

  it("R-AGT-61 the more precise path decides: longer ones, and a value before everything below", () => {
    const { covers } = compilePolicy({
      includedPaths: [path("/food/ingredients/nutrition/*"), path("/a/?"), path("/*")],
      excludedPaths: [path("/food/ingredients/*"), path("/a/*"), path("/b/?")],
    });
    expect(covers(["food", "name"])).toBe(true);
    expect(covers(["food", "ingredients", "salt"])).toBe(false);
    expect(covers(["food", "ingredients", "nutrition", "fat"])).toBe(true);
    expect([covers(["a"]), covers(["a", "b"])]).toEqual([true, false]);
    expect([covers(["b"]), covers(["b", "c"])]).toEqual([false, true]);
  });

  it("nothing is indexed where the policy is off", () => {
    for (const off of [{ indexingMode: "none" }, { automatic: false }]) {
      const { covers, included, composites } = compilePolicy({
        ...off,
        includedPaths: [path("/a/?")],
        compositeIndexes: [[path("/a"), path("/b")]],
      });
      expect([covers(["a"]), covers(["id"]), included, composites]).toEqual([false, true, [], []]);
    }
  });

  it("what is malformed is refused with its place", () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [[], /must be an object/],
      [{ includedPaths: {} }, /includedPaths: must be a list/],
      [{ includedPaths: ["/a/?"] }, /includedPaths\[0\]: must be an object with a path/],
      [{ includedPaths: [path("a/?")] }, /includedPaths\[0\]\.path: .*starts with "\/"/],
      [{ includedPaths: [path("/a")] }, /must end in "\/\?"/],
      [{ includedPaths: [path("/?")] }, /has no property/],
      [{ includedPaths: [path("/a//?")] }, /empty or unfinished/],
      [{ excludedPaths: [path("/a/?/b/*")] }, /"\?" in the middle/],
      [{ excludedPaths: [path('/"a/?')] }, /empty or unfinished/],
      [{ excludedPaths: [path('/"a"b/?')] }, /needs a "\/"/],
      [{ excludedPaths: [path('/"\\x"/?')] }, /not a quoted name/],
      [{ includedPaths: [path("/a/?")], excludedPaths: [path("/a/?")] }, /both included and excluded/],
      [{ includedPaths: [path("/*/a/?")], excludedPaths: [path("/[]/a/?")] }, /both included and excluded/],
      [{ compositeIndexes: [[path("/a")]] }, /compositeIndexes\[0\]: must be a list of 2 to 8/],
      [{ compositeIndexes: [[path("/a"), path("/b/?")]] }, /\[0\]\[1\]\.path: .*without/],
      [{ compositeIndexes: [[path("/a"), path("/a")]] }, /repeats a path/],
      [{ compositeIndexes: [[path("/a"), { path: "/b", order: "up" }]] }, /order: must be/],
      [{ compositeIndexes: {} }, /compositeIndexes: must be a list/],
      [{ indexingMode: "lazy" }, /indexingMode: must be/],
      [{ automatic: 1 }, /automatic/],
      [{ spatialIndexes: [path("/a/*")] }, /spatialIndexes: is not supported/],
    ];
    for (const [policy, expected] of cases) expect(refusal(() => compilePolicy(policy))).toMatch(expected);
    compilePolicy({ spatialIndexes: [], includedPaths: [{ path: "/a/?", indexes: [{ kind: "Range" }] }] });
  });

  it("limits: paths, composite indexes and the length of a path", () => {
    const paths = (count: number) => Array.from({ length: count }, (_, i) => path(`/p${i}/?`));
    compilePolicy({ includedPaths: paths(policyPathsMax) });
    expect(
      refusal(() => compilePolicy({ includedPaths: paths(policyPathsMax), excludedPaths: [path("/x/?")] })),
    ).toContain(`at most ${policyPathsMax}`);
    const composites = (count: number) => Array.from({ length: count }, (_, i) => [path("/a"), path(`/b${i}`)]);
    compilePolicy({ compositeIndexes: composites(compositeIndexesMax) });
    expect(refusal(() => compilePolicy({ compositeIndexes: composites(compositeIndexesMax + 1) }))).toContain(
      `at most ${compositeIndexesMax}`,
    );
    compilePolicy({ includedPaths: [path(`/${"x".repeat(pathCharsMax - 3)}/?`)] });
    expect(refusal(() => compilePolicy({ includedPaths: [path(`/${"x".repeat(pathCharsMax - 2)}/?`)] }))).toContain(
      `at most ${pathCharsMax}`,
    );
  });
});

describe("declarations", () => {
  it("R-AGT-61 a policy becomes indexes: composite ones in their order, then values, none twice; what is left out is told", () => {
    const { definition, advice } = compileSpec({
      partition_key: "/user_id",
      indexing_policy: {
        includedPaths: [
          path("/user_id/?"),
          path("/status/?"),
          path("/meta/kind/?"),
          path("/workspace_id/?"),
          path("/tags/[]/?"),
          path("/body/*"),
        ],
        compositeIndexes: [
          [path("/status"), { path: "/created_at", order: "descending" }],
          [path("/meta/kind"), path("/created_at")],
        ],
      },
    });
    expect(definition.partitionKey).toEqual(["user_id"]);
    expect(definition.indexes).toEqual({
      by_status_created_at_desc: { partition: [], sort: ["status", { path: "created_at", order: "desc" }] },
      by_meta_kind_created_at_d8d6c232: { partition: [], sort: ["meta.kind", "created_at"] },
      by_user_id: { partition: [], sort: ["user_id"] },
      all: { partition: [], sort: ["id"] },
    });
    expect(advice).toContain("/tags/[]/?");
  });

  it("15 indexes at most: one's own first, then composite ones, then single paths", () => {
    const own = Object.fromEntries(
      Array.from({ length: 14 }, (_, i) => [`own${i}`, { partition: [`/a${i}`], sort: [] }]),
    );
    const policy = {
      includedPaths: Array.from({ length: 20 }, (_, i) => path(`/v${i}/?`)),
      compositeIndexes: [[path("/x"), path("/y")]],
    };
    const full = compileSpec({ partition_key: "/p", indexes: own, indexing_policy: policy });
    expect(Object.keys(full.definition.indexes ?? {})).toHaveLength(15);
    expect(full.advice).toContain("x + y, v0");
    expect(
      refusal(() => compileSpec({ partition_key: "/p", indexes: { ...own, more: { partition: ["/b"], sort: [] } } })),
    ).toContain("at most 14");
    const rest = compileSpec({ partition_key: "/p", indexing_policy: policy });
    expect(Object.keys(rest.definition.indexes ?? {})).toHaveLength(15);
    expect(rest.definition.indexes).toMatchObject({ by_x_y: { sort: ["x", "y"] }, by_v12: { sort: ["v12"] } });
    expect(rest.advice).toMatch(/No index was created for v13, v14, .*v19: /);
  });

  it("the same said otherwise is the same; what is malformed is refused with its place", () => {
    const same = [
      { partition_key: "/p", indexes: { a: { partition: ["/x"], sort: [{ path: "/y/z", order: "asc" }] } } },
      {
        indexes: { a: { sort: ["y.z"], partition: ["x"] } },
        partition_key: ["p"],
        default_ttl: null,
        strict: false,
        unique_keys: {},
      },
    ];
    expect(new Set(same.map((spec) => compileSpec(spec).text)).size).toBe(1);
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [null, /object with partition_key/],
      [{}, /partition_key: give 1 to 3/],
      [{ partition_key: [] }, /partition_key: give 1 to 3/],
      [{ partition_key: ["/a", "/b", "/c", "/d"] }, /partition_key: give 1 to 3/],
      [{ partition_key: ["/a", "a"] }, /repeats a path/],
      [{ partition_key: "/a//b" }, /empty segment/],
      [{ partition_key: 5 }, /partition_key/],
      [{ partition_key: "/a", nonsense: 1 }, /nonsense: is not known/],
      [{ partition_key: "/a", indexes: { all: { partition: [], sort: ["/a"] } } }, /"all" is reserved/],
      [{ partition_key: "/a", indexes: { ALL: { partition: [], sort: ["/a"] } } }, /"all" is reserved/],
      [{ partition_key: "/a", indexes: { "a-b": { partition: [], sort: ["/a"] } } }, /not a valid name/],
      [
        { partition_key: "/a", indexes: { x: { partition: [], sort: ["/a"] }, X: { partition: [], sort: ["/b"] } } },
        /differ only in case/,
      ],
      [{ partition_key: "/a", indexes: { x: { partition: [], sort: [] } } }, /indexes\.x: give 1 to 8/],
      [{ partition_key: "/a", indexes: { x: { partition: [], sort: [5] } } }, /indexes\.x\.sort/],
      [{ partition_key: "/a", indexes: { x: { sort: ["/a"] } } }, /indexes\.x: must be/],
      [{ partition_key: "/a", indexes: [] }, /indexes: must be an object/],
      [{ partition_key: "/a", unique_keys: { x: [] } }, /unique_keys\.x: give 1 to 8/],
      [
        {
          partition_key: "/a",
          unique_keys: Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`u${i}`, ["/a"]])),
        },
        /at most 5/,
      ],
      [{ partition_key: "/a", default_ttl: 0 }, /ttl must be/],
      [{ partition_key: "/a", default_ttl: -2 }, /ttl must be/],
      [{ partition_key: "/a", default_ttl: 1.5 }, /ttl must be/],
      [{ partition_key: "/a", default_ttl: 2_147_483_648 }, /ttl must be/],
      [{ partition_key: "/a", strict: "yes" }, /strict/],
    ];
    for (const [spec, expected] of cases) expect(refusal(() => compileSpec(spec))).toMatch(expected);
    compileSpec({ partition_key: "/a", default_ttl: 2_147_483_647 });
  });

  it("a declaration has at most 64 KB", () => {
    const spec = (chars: number) => ({
      partition_key: "/a",
      indexing_policy: { includedPaths: [{ path: "/a/?", note: "x".repeat(chars) }] },
    });
    const empty = JSON.stringify(spec(0)).length;
    compileSpec(spec(specBytesMax - empty));
    expect(refusal(() => compileSpec(spec(specBytesMax - empty + 1)))).toContain(`at most ${specBytesMax}`);
  });
});
