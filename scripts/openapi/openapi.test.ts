/** The OpenAPI document as others use it: a generator produces types that compile, and a linter finds nothing wrong. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import openapiTS, { astToString } from "openapi-typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../packages/pinakes/src/http/app.ts";
import { open } from "../../packages/pinakes/src/open.ts";

let text: string;
const folder = mkdtempSync(join(tmpdir(), "pinakes-openapi-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(async () => {
  await using pinakes = await open({ items: "memory:", objects: "memory:" });
  text = await (await (await createApp(pinakes, {})).request("/v1/openapi.json")).text();
});

describe("the OpenAPI document", () => {
  it("becomes types with openapi-typescript, and they compile", async () => {
    const types = astToString(await openapiTS(text));
    const operations = Object.values(
      (JSON.parse(text) as { paths: Record<string, Record<string, { operationId?: string }>> }).paths,
    )
      .flatMap((path) => Object.values(path))
      .flatMap(({ operationId }) => operationId ?? []);
    expect(operations.length).toBeGreaterThan(150);
    for (const operation of operations) expect(types).toMatch(new RegExp(`^ {4}"?${operation}"?: \\{`, "m"));
    const file = join(folder, "api.ts");
    writeFileSync(
      file,
      `${types}\nexport const key: components["schemas"]["Collection"]["status"] = "ACTIVE";\n// @ts-expect-error: no status of a collection\nexport const none: components["schemas"]["Collection"]["status"] = "NONE";\n`,
    );
    const compiler = join(import.meta.dirname, "../../node_modules/typescript/bin/tsc");
    execFileSync(
      process.execPath,
      [compiler, "--noEmit", "--strict", "--target", "es2024", "--module", "nodenext", file],
      {
        cwd: folder,
        stdio: "pipe",
        maxBuffer: 1e8,
      },
    );
  });

  it("has no finding of the linter", async () => {
    const config = await createConfig({
      extends: ["recommended"],
      // Every operation answers errors with the `default` response; a 4xx of its own would repeat it 190 times.
      rules: { "operation-4xx-response": "off" },
    });
    const problems = await lintFromString({ source: text, absoluteRef: "openapi.json", config });
    // The paths of LISA are its own: a collection and a document's download have the same place. The server takes the plain word first.
    const lisaPlaces = "`/repository/{rid}/collection/{cid}` and `/repository/{rid}/{did}/download`";
    expect(
      problems
        .filter(({ message }) => !message.includes(lisaPlaces))
        .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ""}`),
    ).toEqual([]);
  });
});
