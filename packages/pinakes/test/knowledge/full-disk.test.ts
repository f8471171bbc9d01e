/** A full disk, and then space again: readiness reports it, and recovers when writes succeed. */
import { execFileSync } from "node:child_process";
import { open as open_ } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { open, type Pinakes } from "../../src/open.ts";
import { body } from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";

const smallMb = 24;

/** A separate file system, which only root can mount. */
function mounted(dir: string): boolean {
  try {
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${smallMb}m`, "tmpfs", dir], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function fill(path: string): Promise<void> {
  await using file = await open_(path, "a");
  for (let bytes = 1_048_576; bytes >= 1_024; bytes /= 4) {
    try {
      for (;;) await file.write(Buffer.alloc(bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

const dir = temporaryFolder("full");
const isMounted = mounted(dir);
afterAll(async () => {
  if (isMounted) execFileSync("/bin/umount", ["-l", dir]);
});

describe.skipIf(!isMounted)("a full disk (needs the right to mount a tmpfs)", () => {
  it("is not ready while writes fail, names the writes, and is ready again, without warnings, when there is space", async () => {
    await using pinakes: Pinakes = await open({ dir });
    expect(await pinakes.ready()).toMatchObject({ ready: true, reasons: {} });
    const admin = pinakes.as({ tenant: "acme", userId: "ann", role: "admin" });
    await pinakes.knowledge.repositories.create(admin, { repository_id: "kb" });
    await pinakes.knowledge.collections.create(admin, "kb", { collection_id: "papers" });
    const workflows = pinakes.state.as(admin).workflows;
    const write = async (chars: number) =>
      workflows.create({ type: "sequential", name: "x", total_steps: 1, description: "d".repeat(chars) });
    // All but a little space, which small writes fill.
    await fill(join(dir, "filler"));
    const refused = await until(async () => {
      try {
        await write(50_000);
        return undefined;
      } catch (error) {
        return error as { readonly code: string };
      }
    }, 0);
    expect(refused.code).toBe("UNAVAILABLE");
    const full = await pinakes.ready();
    expect(full.ready).toBe(false);
    expect(full.reasons["items"]).toMatch(/writes fail: .*full/);
    execFileSync("/bin/mount", ["-o", `remount,size=${smallMb * 4}m`, dir]);
    await until(async () => (await pinakes.ready()).ready, 50);
    await write(10);
    await pinakes.knowledge.documents.upload(admin, "kb", "papers", { name: "a.txt", body: body("Some words.") });
    await until(async () => Object.keys((await pinakes.ready()).warnings).length === 0, 50);
    expect(await pinakes.ready()).toEqual({ ready: true, reasons: {}, warnings: {} });
  });
});
