/** At the end of a test run: the ten slowest files. */
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const filesShown = 10;

export class SlowFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules
      .map((module) => ({ file: module.moduleId, ms: totalMs(module) }))
      .toSorted((a, b) => b.ms - a.ms);
    // Not for a run of a few files, which shows their times already.
    if (timed.length <= filesShown) return;
    const all = timed.reduce((sum, { ms }) => sum + ms, 0);
    console.log(`\n The slowest ${filesShown} of ${timed.length} files (${seconds(all)} in all, over the workers):`);
    for (const { file, ms } of timed.slice(0, filesShown))
      console.log(`${seconds(ms).padStart(8)}  ${relative(process.cwd(), file)}`);
  }
}

/** Imports, hooks and tests: the time of a worker. */
function totalMs(module: TestModule): number {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } = module.diagnostic();
  return collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`;
}
