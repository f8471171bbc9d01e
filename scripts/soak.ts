/**
 * `npm run soak -- --seconds 60 --seed 1 [--stack sqlite|postgres]`: writers, compactors and readers of the vector store as processes,
 * killed and stopped at random. Fails at the first violated invariant. Both stacks by default.
 */
import { parseArgs } from "node:util";
import { runSoak, text } from "../packages/pinakes/test/vectors/soak/run-soak.ts";
import type { StackKind } from "../packages/pinakes/test/vectors/soak/stack.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string" }, seed: { type: "string" }, stack: { type: "string" } },
});
const seconds = Number(values.seconds ?? 60);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const stacks: StackKind[] = values.stack === undefined ? ["sqlite", "postgres"] : [values.stack as StackKind];
if (!(seconds > 0) || !Number.isInteger(seed) || stacks.some((stack) => stack !== "sqlite" && stack !== "postgres")) {
  console.error("usage: npm run soak -- --seconds 60 --seed 1 [--stack sqlite|postgres]");
  process.exit(2);
}

for (const stack of stacks) {
  console.log(`soak on ${stack}: ${seconds} s, seed ${seed}`);
  try {
    const figures = await runSoak({ stack, seconds, seed, log: (line) => console.log(line) });
    console.log(`soak on ${stack}, seed ${seed}: all invariants hold. ${text(figures)}`);
  } catch (error) {
    console.error(`soak on ${stack}, seed ${seed}: BROKEN. ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}
process.exit(0);
