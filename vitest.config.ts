import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // As long as a slow machine needs: what a test waits for comes, or the test fails.
    expect: { poll: { timeout: 30_000 } },
    // Real servers run beside the tests; two files at a time keep two cores busy without starving them.
    maxWorkers: 2,
    // Many tests start processes of their own: what Node compiled for one of them is kept for the next.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "pinakes-tests-compiled") },
    projects: [
      { extends: true, test: { name: "packages", include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "scripts/**/*.test.ts"] } },
      {
        // The web page is built first, and tried in a real browser.
        extends: true,
        test: { name: "console", include: ["apps/*/src/**/*.test.ts", "apps/*/test/**/*.test.ts"], globalSetup: ["scripts/test-setup.ts"] },
      },
    ],
  },
});
