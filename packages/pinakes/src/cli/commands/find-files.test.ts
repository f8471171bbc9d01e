import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { findFiles } from "./find-files.ts";
import { failure } from "../terminal/test-terminal.ts";

const cwd = temporaryFolder("cli-files");

beforeAll(async () => {
  for (const folder of ["docs/a", "docs/b", "docs/.git", "elsewhere"])
    await mkdir(join(cwd, folder), { recursive: true });
  for (const file of [
    "docs/a/x.md",
    "docs/b/x.md",
    "docs/top.txt",
    "docs/picture.png",
    "docs/.git/config.txt",
    "docs/.hidden.md",
    "elsewhere/far.md",
  ])
    await writeFile(join(cwd, file), file);
  await symlink(join(cwd, "docs"), join(cwd, "docs/b/circle"));
  await symlink(join(cwd, "elsewhere/far.md"), join(cwd, "docs/b/linked.md"));
});

const places = async (...named: string[]) => (await findFiles(named, cwd)).files.map(({ place }) => place);

describe("files named on the command line", () => {
  it("a folder: all below, in order, hidden ones and circles left out, other types named", async () => {
    const { files, skipped } = await findFiles(["docs"], cwd);
    expect(files.map(({ place }) => place)).toEqual(["a/x.md", "b/linked.md", "b/x.md", "top.txt"]);
    expect(files[0]).toMatchObject({ name: "x.md", path: join(cwd, "docs/a/x.md"), bytes: "docs/a/x.md".length });
    expect(skipped).toEqual([join("docs", "picture.png")]);
  });

  it("a pattern: the same places as those of the folder it begins with", async () => {
    expect((await places("docs/**/*.md")).toSorted()).toEqual(["a/x.md", "b/linked.md", "b/x.md"]);
    expect((await places("docs/*/x.md")).toSorted()).toEqual(["a/x.md", "b/x.md"]);
    expect(await places(join(cwd, "docs/*.txt"))).toEqual(["top.txt"]);
  });

  it("a file is known by its name; two of one name by the way to them; the same file twice is one", async () => {
    expect(await places("docs/a/x.md")).toEqual(["x.md"]);
    expect(await places("docs/a/x.md", "docs/b/x.md")).toEqual(["docs/a/x.md", "docs/b/x.md"]);
    expect(await places("docs/a/x.md", "./docs/a/x.md")).toEqual(["x.md"]);
    expect(await places("docs/.hidden.md")).toEqual([".hidden.md"]);
  });

  it("what is not there is said", async () => {
    expect((await failure(findFiles(["nothing.md"], cwd))).message).toBe('There is no file or folder "nothing.md".');
    expect((await failure(findFiles(["docs/**/*.pdf"], cwd))).message).toBe('No file matches "docs/**/*.pdf".');
  });

  it("takes as many as the limit, and not one more", async () => {
    expect((await findFiles(["docs"], cwd, 4)).files).toHaveLength(4);
    expect((await failure(findFiles(["docs"], cwd, 3))).code).toBe("LIMIT_EXCEEDED");
  });
});
