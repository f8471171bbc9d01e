/** The table of stores has every container there is, and docs/governance.md has the table. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { erasureStores } from "../../src/governance/index.ts";
import { openTestPinakes } from "../knowledge/support/test-pinakes.ts";

it("R-AGT-64 every container that a server opens is in the table of erasures, and the guide has the same table", async () => {
  await using test = await openTestPinakes("memory", { erasureFenceMs: 0 });
  await createApp(test.pinakes);
  const known = new Set(erasureStores.map(({ store }) => store));
  const missing = (await test.pinakes.items.erasure.containers())
    .map(({ name }) => name)
    .filter((name) => !known.has(name));
  expect(missing).toEqual([]);
  const guide = readFileSync(new URL("../../../../docs/governance.md", import.meta.url), "utf8");
  const wanted = erasureStores.map(({ store, find, erase, verify }) => `| ${store} | ${find} | ${erase} | ${verify} |`);
  expect(guide.split("\n").filter((line) => wanted.includes(line))).toEqual(wanted);
});
