import { globSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { consoleRoutes } from "./console-routes.ts";
import { mountConsole } from "./console.ts";
import type { KitEnv } from "./framework/index.ts";

describe("http: the web page", () => {
  const folder = temporaryFolder("page");
  const app = new Hono<KitEnv>();
  beforeAll(async () => {
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), "<!doctype html><title>Page</title>");
    await writeFile(join(folder, "assets", "a-1.js"), "1;");
    mountConsole(app, folder, []);
  });

  it("may load what it is made of, talk to this server, and nothing else", async () => {
    for (const path of ["/", "/collections/a/b", "/assets/a-1.js"]) {
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

  it("answers its own addresses only: others are not found, which a browser is told by the page and a program is not", async () => {
    const accept = "text/html,application/xhtml+xml";
    for (const path of ["/health", "/livez", "/openapi.json", "/collections/a", "/anything/at/all", "/workflows/a/b"]) {
      const program = await app.request(path);
      expect([program.status, await program.text()], path).toEqual([404, "404 Not Found"]);
      const browser = await app.request(path, { headers: { accept } });
      expect([browser.status, browser.headers.get("content-type")], path).toEqual([404, "text/html; charset=utf-8"]);
    }
    for (const path of consoleRoutes.map((route) => route.replaceAll(/\$\w+/g, "x")))
      expect((await app.request(path)).status, path).toBe(200);
    expect((await app.request("/collections/")).status).toBe(200);
  });

  it("has the addresses of the page's own router, no more and no fewer", () => {
    const screens = fileURLToPath(new URL("../../../../apps/console/src/screens", import.meta.url));
    const files = globSync("*/routes.ts*", { cwd: screens }).map((name) => readFileSync(join(screens, name), "utf8"));
    const paths = files.flatMap((text) => [...text.matchAll(/\bpath: "([^"]+)"/g)].map(([, path]) => path));
    expect(paths.toSorted()).toEqual([...consoleRoutes]);
  });
});
