/**
 * Search quality on SciFact (BEIR): 5,183 abstracts, 300 claims. Embedding takes minutes, so it runs only on request:
 *
 *   PINAKES_QUALITY=1 npx vitest run packages/pinakes/test/quality
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { evalCommand } from "../../src/cli/commands/eval.ts";

const folder = fileURLToPath(new URL("../../../../../shared/data/scifact", import.meta.url));
const reason = !existsSync(folder)
  ? `SciFact is not at ${folder}`
  : process.env["PINAKES_QUALITY"] !== "1"
    ? "it takes minutes; PINAKES_QUALITY=1 asks for it"
    : undefined;
if (reason !== undefined) console.log(`quality on SciFact: skipped, because ${reason}.`);

const minutesMax = 30;

describe("quality on SciFact", () => {
  it.skipIf(reason !== undefined)(
    "keywords reach 0.67 of nDCG@10; both together reach 0.705, and 0.03 more than either alone; fusing scores is no worse than ranks",
    async () => {
      let text = "";
      expect(await evalCommand([folder, "--compare", "--json"], { out: (part) => (text += part) })).toBe(0);
      const { configurations } = JSON.parse(text) as {
        configurations: readonly { name: string; quality: Readonly<Record<string, number>> }[];
      };
      const ndcg = Object.fromEntries(configurations.map(({ name, quality }) => [name, quality["ndcg@10"] as number]));
      console.log(ndcg);
      const { keyword, vector, "hybrid, convex": convex, "hybrid, rrf": ranks } = ndcg as Record<string, number>;
      expect(keyword).toBeGreaterThanOrEqual(0.67);
      expect(convex).toBeGreaterThanOrEqual(0.705);
      expect(convex).toBeGreaterThanOrEqual(Math.max(keyword ?? 1, vector ?? 1) + 0.03);
      expect(convex).toBeGreaterThanOrEqual(ranks ?? 1);
    },
    minutesMax * 60_000,
  );

  it.skipIf(reason !== undefined)(
    "the default floor costs less than 0.002 of nDCG@10 and refuses every nonsense query",
    async () => {
      let text = "";
      expect(await evalCommand([folder, "--calibrate", "--json"], { out: (part) => (text += part) })).toBe(0);
      const { in_use } = JSON.parse(text) as {
        in_use: readonly { mode: string; nonsense: number; ndcg: number; ndcg_without_floor: number }[];
      };
      console.log(in_use);
      expect(in_use.map(({ mode }) => mode)).toEqual(["hybrid", "vector"]);
      for (const { mode, nonsense, ndcg, ndcg_without_floor } of in_use) {
        expect(Math.abs(ndcg - ndcg_without_floor), mode).toBeLessThanOrEqual(0.002);
        expect(nonsense, mode).toBe(1);
      }
    },
    minutesMax * 60_000,
  );
});
