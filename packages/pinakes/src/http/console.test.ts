import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mountConsole } from "./console.ts";
import type { KitEnv } from "./kit/index.ts";

describe("http: the web page", () => {
  let folder: string;
  const app = new Hono<KitEnv>();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pinakes-page-"));
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), "<!doctype html><title>Page</title>");
    await writeFile(join(folder, "assets", "a-1.js"), "1;");
    mountConsole(app, folder, []);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("may load what it is made of, talk to this server, and nothing else", async () => {
    for (const path of ["/", "/collections/a", "/assets/a-1.js"]) {
      const { status, headers } = await app.request(path);
      expect([status, headers.get("content-security-policy")?.split("; ")]).toEqual([
        200,
        [
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "img-src 'self' data:",
          "connect-src 'self'",
          "form-action 'self'",
          "base-uri 'none'",
          "frame-ancestors 'none'",
        ],
      ]);
    }
    expect((await app.request("/assets/none.js")).status).toBe(404);
  });
});
