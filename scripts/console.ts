/**
 * `npm run console`: builds the web page (apps/console/dist) when its sources changed since the last build; `--force` in any case.
 * `npm start` and the tests do it first.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "apps", "console");
/** Beside the build: removing the build removes the mark. */
const mark = join(folder, "dist", "built-from.txt");

export function buildConsole({ force = false }: { readonly force?: boolean } = {}): string {
  const dist = join(folder, "dist");
  const sources = sourcesHash();
  if (!force && existsSync(mark) && readFileSync(mark, "utf8") === sources) return dist;
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  // Whatever NODE_ENV this process has (tests say "test"): users get the production build.
  const env = { ...process.env, NODE_ENV: "production" };
  execFileSync(process.execPath, [vite, "build", "--logLevel", "warn"], { cwd: folder, stdio: "inherit", env });
  writeFileSync(mark, sources);
  return dist;
}

function sourcesHash(): string {
  const hash = createHash("sha256");
  const files = ["src", "public"].flatMap((part) =>
    readdirSync(join(folder, part), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const settings = ["index.html", "vite.config.ts", "package.json"].map((name) => join(folder, name));
  for (const file of [...files, ...settings, join(root, "package-lock.json")].sort())
    hash.update(`${file}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildConsole({ force: process.argv.includes("--force") });
