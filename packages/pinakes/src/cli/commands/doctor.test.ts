import { rename, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import {
  checkClock,
  checkFolder,
  checkNode,
  checkPort,
  checkSpace,
  freeBytesAdvised,
  freeBytesMin,
} from "./doctor-machine.ts";
import { checkDatabase } from "./doctor-stores.ts";
import { doctor, type Check } from "./doctor.ts";
import { stores } from "./stores.ts";
import { run } from "../terminal/test-terminal.ts";

const base = temporaryFolder("doctor");

describe("pinakes doctor", () => {
  it("finds nothing wrong with a new folder, and tells the settings without secrets", async () => {
    const env = {
      PINAKES_DATA: join(base, "new"),
      PINAKES_PORT: "0",
      PINAKES_ROOT_TOKEN: "a-very-secret-token-of-an-operator",
    };
    const { code, out } = await run(doctor, ["--json"], { env });
    const { ok, checks, settings } = JSON.parse(out) as {
      ok: boolean;
      checks: Check[];
      settings: Record<string, string>;
    };
    expect(checks.filter(({ state }) => state === "wrong")).toEqual([]);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    const names = [
      "node",
      "settings",
      "data folder",
      "free space",
      "clock",
      "port",
      "stores",
      "database",
      "items",
      "objects",
      "queue",
      "model all-MiniLM-L6-v2",
      "parsers",
    ];
    expect(checks.map(({ name }) => name)).toEqual(names);
    expect(settings["root token"]).toBe("from PINAKES_ROOT_TOKEN");
    expect(out).not.toContain("a-very-secret");
  });

  it("says what is wrong and what to do, with exit code 1", async () => {
    const file = join(base, "a-file");
    await writeFile(file, "");
    const folder = await run(doctor, [], { env: { PINAKES_DATA: file, PINAKES_PORT: "0" } });
    expect(folder.code).toBe(1);
    expect(folder.out).toMatch(/✗ data folder +.*a-file cannot be written/);
    expect(folder.out).toContain("→ Make it writable for this user");
    const settings = await run(doctor, [], { env: { PINAKES_DATE: "x" } });
    expect(settings).toMatchObject({
      code: 1,
      out: expect.stringMatching(/✗ settings +Unknown setting: PINAKES_DATE/) as string,
    });
  });

  it("fails where the objects were deleted or belong to another store, and the command that binds them says whose they were", async () => {
    const env = (name: string, more: object = {}) => ({ PINAKES_DATA: join(base, name), PINAKES_PORT: "0", ...more });
    for (const name of ["mine", "theirs"]) expect((await run(doctor, [], { env: env(name) })).code).toBe(0);
    const foreign = env("mine", { PINAKES_OBJECTS: `file:${join(base, "theirs/objects")}` });
    expect(await run(doctor, [], { env: foreign })).toMatchObject({
      code: 1,
      out: expect.stringMatching(/✗ stores +.*belongs to store/) as string,
    });
    await rename(join(base, "mine/objects"), join(base, "mine/away"));
    expect(await run(doctor, [], { env: env("mine") })).toMatchObject({
      code: 1,
      out: expect.stringMatching(/✗ stores +.*has no store id/) as string,
    });
    const told = await run(stores, ["show"], { env: foreign });
    expect(told).toMatchObject({ code: 1, out: expect.stringContaining("They do not belong together.") as string });
    await expect(run(stores, ["bind"], { env: env("mine") })).rejects.toThrow("--yes");
    const bound = JSON.parse((await run(stores, ["bind", "--yes", "--json"], { env: env("mine") })).out) as {
      items: string;
      objects: string;
    };
    expect(bound).toMatchObject({ together: true, objects: bound.items });
    expect((await run(doctor, [], { env: env("mine") })).code).toBe(0);
  });

  it("knows how much room is enough: at the limits, and one byte below", () => {
    const free = (bytes: number) => checkSpace("/data", { bavail: bytes, bsize: 1 }).state;
    expect([freeBytesAdvised, freeBytesAdvised - 1, freeBytesMin, freeBytesMin - 1].map(free)).toEqual([
      "fine",
      "warning",
      "warning",
      "wrong",
    ]);
  });

  it("looks at the version of Node, the clock and the folder", async () => {
    expect([checkNode("24.0.0").state, checkNode("22.19.0").state]).toEqual(["fine", "wrong"]);
    expect((await checkClock(base)).state).toBe("fine");
    expect((await checkClock(base, () => Date.UTC(1970, 0, 1))).state).toBe("wrong");
    expect((await checkClock(base, () => Date.now() - 60_000)).state).toBe("warning");
    expect((await checkFolder(join(base, "made"))).state).toBe("fine");
  });

  it("tells a free port from a taken one", async () => {
    const other = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    expect(await checkPort("127.0.0.1", port)).toMatchObject({
      state: "warning",
      seen: expect.stringContaining("another program") as string,
    });
    other.close();
    await once(other, "close");
    expect(await checkPort("0.0.0.0", port)).toMatchObject({
      state: "fine",
      seen: expect.stringContaining("is free") as string,
    });
    expect((await checkPort("127.0.0.1", 0)).state).toBe("fine");
  });
});

it("says when a store has the default name of earlier versions", () => {
  expect(checkDatabase("pinakes", "pinakes")).toEqual({ state: "fine", seen: "pinakes" });
  expect(checkDatabase("project-ascension-db", "pinakes")).toMatchObject({
    state: "fine",
    seen: expect.stringContaining("the default name of earlier versions") as string,
  });
});
