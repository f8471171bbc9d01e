import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { SlowFiles } from "./scripts/slow-files.ts";
import { testFolder } from "./scripts/test-folder.ts";

/** Tests beside the code that start servers, processes or models, or read large files: seconds each, and no part of `npm run test:unit`. */
const slow = [
  "packages/pinakes/src/{cli,drivers/{dynamodb,postgres,s3,sqs,parsers,models}}/**",
  "packages/pinakes/src/**/{pipelines,evaluation,transfer}/**",
  "packages/pinakes/src/open*.test.ts",
  "packages/pinakes/src/queues/engines.test.ts",
  "packages/pinakes/src/vectors/import/drop-box-services.test.ts",
  "scripts/pack.test.ts",
];

export default defineConfig({
  test: {
    reporters: ["default", new SlowFiles()],
    // Only to end what hangs: no test proves anything by being fast, so that a machine with ten times the load passes, too.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000 } },
    // Tests wait for servers, browsers and timers half of the time: three files at a time keep two cores busy.
    maxWorkers: 3,
    // A worker runs file after file and keeps the modules it has loaded, which saves a quarter of all work. Nothing but a test file may
    // register hooks when it is imported: that happens once in a worker. `--isolate` looks for a file that depends on others.
    isolate: false,
    setupFiles: ["scripts/test-file.ts"],
    // Many tests start processes of their own: what Node compiled for one of them is kept for the next.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "pinakes-tests-compiled"), TMPDIR: testFolder() },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "scripts/**/*.test.ts"],
          exclude: slow,
        },
      },
      {
        extends: true,
        test: {
          name: "packages",
          include: [
            "packages/*/test/**/*.test.ts",
            ...slow.map((pattern) => pattern.replace(/\/\*\*$/, "/**/*.test.ts")),
          ],
        },
      },
      {
        // The web page is built first, and tried in a real browser. It waits for the page three quarters of the time.
        extends: true,
        test: {
          name: "console",
          include: ["apps/*/test/**/*.test.ts"],
          globalSetup: ["scripts/test-setup.ts"],
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
