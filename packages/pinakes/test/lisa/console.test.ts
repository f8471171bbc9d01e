/** The root of the server is the console's, too: neither answers what is the other's. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { consoleRoutes } from "../../src/http/console-routes.ts";
import { openTestServer, type TestServer } from "../http/support/server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("the root", () => {
  const folder = temporaryFolder("root");
  let server: TestServer;
  beforeAll(async () => {
    await writeFile(join(folder, "index.html"), "<!doctype html><title>Console</title>");
    server = await openTestServer("memory", {}, { console: folder });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const headers = { accept: "text/html,application/xhtml+xml" };
  const typeAt = async (path: string) => {
    const { status, headers: got } = await server.call("GET", path, { headers });
    return [status, got.get("content-type")];
  };

  it("shows the console at its own addresses, and never in place of an answer to LISA's clients", async () => {
    for (const path of consoleRoutes.map((route) => route.replaceAll(/\$\w+/g, "x")))
      expect(await typeAt(path), path).toEqual([200, "text/html; charset=utf-8"]);
    for (const path of [
      "/repository",
      "/repository/x",
      "/repository/x/collections",
      "/repository/x/y/z/unknown",
      "/models",
      "/models/unknown",
      "/bedrock-kb",
      "/configuration",
      "/session",
      "/session/unknown",
    ]) {
      const [status, type] = await typeAt(path);
      expect([path, type]).toEqual([path, "application/json"]);
      expect([401, 404]).toContain(status);
    }
    expect(await typeAt("/docs")).toEqual([200, "text/html; charset=utf-8"]);
  });

  it("answers in LISA's form at LISA's paths only", async () => {
    const { json } = await server.call("GET", "/repository/x/y/z/unknown");
    expect(json).toEqual({ error: "Not Found", message: expect.stringContaining("/repository/x/y/z/unknown") });
    for (const path of ["/repositorys", "/models2", "/sessions/x/unknown", "/v1/unknown"])
      expect((await server.call("GET", path)).json["code"], path).toBe("NOT_FOUND");
  });
});
