/** Looks for bytes in every file below a folder. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Which of the needles occur, and in which file. */
export function foundIn(folder: string, needles: readonly (string | Uint8Array)[]): readonly string[] {
  const wanted = needles.map((needle) => ({
    bytes: typeof needle === "string" ? Buffer.from(needle, "utf8") : Buffer.from(needle),
    name: typeof needle === "string" ? needle : "vector",
  }));
  return filesBelow(folder).flatMap((file) => {
    const content = readFileSync(file);
    return wanted
      .filter(({ bytes }) => content.includes(bytes))
      .map(({ name }) => `${file.slice(folder.length)}: ${name}`);
  });
}
