/** `npm run bench [-- name]`: installs the peers of bench/ where they are needed and missing, then runs one bench or all of them. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../bench/", import.meta.url));
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -3));
const [wanted] = process.argv.slice(2);
if (wanted !== undefined && !names.includes(wanted)) {
  console.error(`There is no bench "${wanted}"; there are: ${names.join(", ")}.`);
  process.exit(1);
}
/** Benches that measure Pinakes alone. */
const withoutPeers: readonly (string | undefined)[] = ["erasure", "facades", "knowledge", "merges"];
if (!withoutPeers.includes(wanted) && !existsSync(`${folder}node_modules`)) run("npm", ["ci"]);
for (const name of wanted === undefined ? names : [wanted]) run(process.execPath, [`${name}.ts`]);

function run(command: string, args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) process.exitCode = status ?? 1;
}
