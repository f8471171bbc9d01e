/** The repository as the rules see it: path → text, and a way to report findings. */
import { execFile } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export type Tree = ReadonlyMap<string, string>;

export interface Finding {
  readonly path: string;
  /** 1 is the first; 0: the file as a whole. */
  readonly line: number;
  readonly rule: string;
  readonly message: string;
  /** Advice, not an error. */
  readonly note?: true;
}

export type Rule = (tree: Tree) => Finding[];

/** What git tracks, or would track; every file but the usual exceptions without git. */
export async function readTree(root: string): Promise<Tree> {
  const paths = (await gitPaths(root)) ?? (await walkedPaths(root));
  const tree = new Map<string, string>();
  for (const path of paths.sort()) {
    const text = await readText(join(root, path));
    if (text !== undefined) tree.set(path, text);
  }
  return tree;
}

async function gitPaths(root: string): Promise<string[] | undefined> {
  try {
    const { stdout } = await promisify(execFile)("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
      cwd: root,
      maxBuffer: 64 * 1024 ** 2,
    });
    return stdout.split("\0").filter((path) => path !== "");
  } catch {
    return undefined; // No git, or not a checkout: a tarball is checked too.
  }
}

async function walkedPaths(root: string, folder = ""): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const paths = entries
    .filter(({ name }) => !["node_modules", ".git", "data"].includes(name))
    .map(async (entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? walkedPaths(root, path) : [path];
    });
  return (await Promise.all(paths)).flat();
}

/** Undefined for a binary file, and for a tracked file that was deleted. */
async function readText(path: string): Promise<string | undefined> {
  try {
    const bytes = await readFile(path);
    return bytes.includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  }
}
