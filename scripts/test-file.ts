/**
 * Around each test file: a worker runs many of them in one process, and the changes of one (environment, globals, time) are undone before
 * the next begins.
 */
import { afterAll, vi } from "vitest";

const environment = { ...process.env };
const folder = process.cwd();

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
});
