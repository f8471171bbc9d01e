import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { collections } from "./collections.ts";
import { migrate } from "./migrate.ts";
import { repositories } from "./repositories.ts";
import { failure, run } from "../terminal/test-terminal.ts";

const base = temporaryFolder("migrate-cli");

describe("pinakes migrate", () => {
  it("R-TG-91 plans, runs, switches, finishes and rolls back; --json has all of it", async () => {
    const env = { PINAKES_DATA: join(base, "data") };
    const path = join(base, "legacy.db");
    const db = new DatabaseSync(path);
    db.exec(
      "CREATE TABLE ann__papers (s TEXT, p TEXT, o TEXT); INSERT INTO ann__papers VALUES ('http://x/a', 'http://x/b', 'words')",
    );
    db.close();
    const mapping = '{"separator":"__","objects":"absolute"}';
    const planned = await run(migrate, ["plan", "triples", path, "--mapping", mapping, "--json"], { env });
    const { migration_id: id } = JSON.parse(planned.out) as { migration_id: string };
    expect(planned.code).toBe(0);
    const ran = await run(migrate, ["run", id], { env });
    expect(ran.out).toContain("All equal.");
    expect((await run(migrate, ["switch", id], { env })).out).toContain("switched");
    expect((await failure(run(migrate, ["finish", id, "--remove-old"], { env }))).detail).toContain("kept until");
    expect((await run(migrate, ["finish", id, "--remove-old", "--now"], { env })).out).toContain("Done.");
    expect((await run(migrate, ["rollback", id, "--json"], { env })).out).toContain('"restored"');
    expect((await run(migrate, ["status", id], { env })).out).toContain("rolled_back");
    expect((await run(migrate, ["list"], { env })).out).toContain(id);
    const bad = await run(migrate, ["plan", "triples", path, "--mapping", '{"objects":"literal"}'], { env });
    expect(bad).toMatchObject({ code: 1, out: expect.stringContaining("has no owner") as string });
    expect((await failure(run(migrate, ["plan", "magic", path], { env }))).detail).toContain("there are triples, rows");
    expect((await failure(run(migrate, ["engine", "--from", "sqlite:./a"], { env }))).detail).toContain(
      "both are required",
    );
  });

  it("R-TG-63 moves a collection to another repository and back; --plan only looks", async () => {
    const env = { PINAKES_DATA: join(base, "moving") };
    for (const id of ["kb", "attic"]) await run(repositories, ["create", id], { env });
    await run(collections, ["create", "kb/papers", "--tags", "old"], { env });
    const planned = await run(migrate, ["collection", "kb/papers", "attic/articles", "--plan", "--json"], { env });
    expect(JSON.parse(planned.out)).toMatchObject({
      state: "planned",
      units: [{ name: "kb/papers", target: { repository: "attic", collection: "articles" } }],
    });
    const moved = await run(migrate, ["collection", "kb/papers", "attic/articles"], { env });
    expect(moved).toMatchObject({ code: 0, out: expect.stringMatching(/switched[\s\S]*in the trash until/) as string });
    const { items } = JSON.parse((await run(migrate, ["list", "--json"], { env })).out) as {
      items: { migration_id: string; state: string }[];
    };
    const id = items.find(({ state }) => state === "switched")?.migration_id as string;
    expect(JSON.parse((await run(collections, ["show", "attic/articles", "--json"], { env })).out)).toMatchObject({
      metadata: { tags: ["old"] },
    });
    const back = (await run(migrate, ["rollback", id], { env })).out;
    expect(back).toMatch(/rolled_back[\s\S]*The copy attic\/articles is in the trash until/);
    expect(back).not.toMatch(/^old form /m);
    expect((await run(migrate, ["status", id], { env })).out).toContain("is in the trash until");
    // The line that it tells removes the copy, and then there is nothing to tell of.
    const told = / {2}pinakes collections (purge attic\/articles --incarnation \S+)/
      .exec(back)?.[1]
      ?.split(" ") as string[];
    expect((await run(collections, [...told, "--yes"], { env })).code).toBe(0);
    expect((await run(migrate, ["status", id], { env })).out).not.toContain("in the trash");
    expect((await run(collections, ["show", "kb/papers"], { env })).code).toBe(0);
    expect((await failure(run(migrate, ["collection", "papers", "attic/articles"], { env }))).message).toContain(
      "such as kb/papers",
    );
    expect((await failure(run(migrate, ["collection", "kb/none", "attic/articles"], { env }))).code).toBe("NOT_FOUND");
  });

  it("moves a whole store to another engine and says that both are equal", async () => {
    const from = ["--from", `sqlite:${join(base, "data")}`, "--from-objects", `file:${join(base, "data/objects")}`];
    const to = ["--to", `sqlite:${join(base, "new")}`, "--to-objects", `file:${join(base, "new/objects")}`];
    const moved = await run(migrate, ["engine", ...from, ...to], { env: {} });
    expect(moved).toMatchObject({ code: 0, out: expect.stringContaining("Both have the same content.") as string });
    expect(
      (
        await failure(
          run(
            migrate,
            [
              "engine",
              ...from,
              "--to",
              `sqlite:${join(base, "data")}`,
              "--to-objects",
              `file:${join(base, "data/objects")}`,
            ],
            { env: {} },
          ),
        )
      ).detail,
    ).toContain("same store");
  });
});
