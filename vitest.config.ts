import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "scripts/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // As long as a slow machine needs: what a test waits for comes, or the test fails.
    expect: { poll: { timeout: 30_000 } },
    // Real servers run beside the tests; two files at a time keep two cores busy without starving them.
    maxWorkers: 2,
  },
});
