/** Many schedules, one seed after the other. A violation is reported with the seed, the last steps, and how to reproduce it. */
import type { PlannedMutant } from "./mutants.ts";
import { profiles, type ProfileName } from "./profiles.ts";
import { runSchedule } from "./schedule.ts";

/** The default for development and continuous integration; `npm run test:long` runs more. */
const total = Number(process.env["SIM_SCHEDULES"] ?? 4_000);
const firstSeed = Number(process.env["SIM_SEED"] ?? 1);
const stepsShown = process.env["SIM_TRACE"] === undefined ? 60 : Infinity;

/** `share` of SIM_SCHEDULES. `reaches`: what must have happened at least once, or the schedules prove nothing. */
export async function explore(name: ProfileName, share: number, reaches: readonly string[]): Promise<void> {
  const schedules = Math.max(1, Math.round(total * share));
  const figures: Record<string, number> = {};
  const begun = performance.now();
  for (let seed = firstSeed; seed < firstSeed + schedules; seed += 1) {
    const result = await runSchedule(profiles[name], seed);
    if (result.violation !== undefined) throw new Error(await told(name, seed, result.violation));
    for (const [figure, count] of Object.entries(result.figures)) figures[figure] = (figures[figure] ?? 0) + count;
  }
  const seconds = (performance.now() - begun) / 1000;
  const happened = Object.entries(figures).flatMap(([figure, count]) => (count === 0 ? [] : [`${count} ${figure}`]));
  console.log(
    `${name}: ${schedules} schedules from seed ${firstSeed} in ${seconds.toFixed(0)} s: ${happened.join(", ")}`,
  );
  const missed = schedules < 200 ? [] : reaches.filter((figure) => (figures[figure] ?? 0) === 0);
  if (missed.length > 0)
    throw new Error(`In ${schedules} schedules there were no ${missed.join(", ")}: they prove nothing of it.`);
}

async function told(name: ProfileName, seed: number, violation: string): Promise<string> {
  const { trace, violation: again } = await runSchedule(profiles[name], seed, { trace: true });
  const command = `SIM_SEED=${seed} SIM_SCHEDULES=1 SIM_TRACE=1 npx vitest run packages/pinakes/test/vectors/simulation -t "(${name})"`;
  const changed = again === violation ? "" : `\nA second run of the same seed said: ${again ?? "nothing is wrong"}`;
  return `${violation}${changed}\n\nProfile ${name}, seed ${seed}. To see all of it:\n${command}\n\n${trace.slice(-stepsShown).join("\n")}`;
}

/** The mutant is found, for the expected reason, and the same schedule passes with the original code. */
export async function hunt(mutant: PlannedMutant): Promise<void> {
  for (let seed = 1; seed <= mutant.schedules; seed += 1) {
    const { violation } = await runSchedule(profiles[mutant.profile], seed, { mutant });
    if (violation === undefined) continue;
    if (!mutant.expected.test(violation))
      throw new Error(`"${mutant.name}" was to be found by ${String(mutant.expected)}, and ended with: ${violation}`);
    const { violation: unmutated } = await runSchedule(profiles[mutant.profile], seed);
    if (unmutated !== undefined) throw new Error(await told(mutant.profile, seed, unmutated));
    console.log(`"${mutant.name}" found by schedule ${seed} (${mutant.profile}): ${violation.slice(0, 200)}`);
    return;
  }
  throw new Error(
    `"${mutant.name}" was not found in ${mutant.schedules} schedules (${mutant.profile}): the simulator is blind to it.`,
  );
}
