/** `node replay.ts <profile> <seed> [mutant]`: one schedule, step by step. */
import { mutants } from "./mutants.ts";
import { profiles, type ProfileName } from "./profiles.ts";
import { runSchedule } from "./schedule.ts";

const [profileName = "races", seed = "1", mutantName] = process.argv.slice(2);
const mutant = mutants.find(({ name }) => name === mutantName);
const { violation, trace, figures } = await runSchedule(profiles[profileName as ProfileName], Number(seed), { mutant, trace: true });
console.log(trace.join("\n"));
console.log(figures);
console.log(violation ?? "nothing is wrong");
