import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { SlowFiles } from "./scripts/slow-files.ts";
import { testFolder } from "./scripts/test-folder.ts";

export default defineConfig({
  test: {
    reporters: ["default", new SlowFiles()],
    // Only to end what hangs: no test proves anything by being fast, so that a machine with ten times the load passes, too.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000 } },
    // Real servers run beside the tests; two files at a time keep two cores busy without starving them.
    maxWorkers: 2,
    // Many tests start processes of their own: what Node compiled for one of them is kept for the next.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "pinakes-tests-compiled"), TMPDIR: testFolder() },
    projects: [
      {
        extends: true,
        test: {
          name: "packages",
          include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "scripts/**/*.test.ts"],
        },
      },
      {
        // The web page is built first, and tried in a real browser.
        extends: true,
        test: {
          name: "console",
          include: ["apps/*/src/**/*.test.ts", "apps/*/test/**/*.test.ts"],
          globalSetup: ["scripts/test-setup.ts"],
        },
      },
    ],
  },
});
