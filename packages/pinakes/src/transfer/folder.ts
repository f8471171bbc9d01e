/**
 * Exports in a local folder. Object keys are not always valid file names: user ids may contain "/", ".." or "|", and file names may exceed
 * a file system's limit. So each part of a key is percent-encoded where necessary, and one that is too long is split into nested folders
 * whose names end with "%~". A folder that was not written here (such as a copy of a bucket) has no such names and is read unchanged.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { PinakesError, invalid } from "../domain/errors.ts";
import type { TransferFile, TransferReader } from "./files.ts";

/** File systems allow 255 bytes; leaves room for the mark and a suffix. */
const partBytesMax = 240;
const goesOn = "%~";
const empty = "%";

/** A path below the folder for any key. */
export function folderPath(key: string): string {
  return key
    .split("/")
    .flatMap((part) =>
      shortParts(part === "" ? empty : part === "." || part === ".." ? part.replaceAll(".", "%2E") : escaped(part)),
    )
    .join("/");
}

/** The key of a path. */
export function folderKey(path: string): string {
  const parts: string[] = [];
  let open = "";
  for (const part of path.split("/")) {
    if (part.endsWith(goesOn)) {
      open += part.slice(0, -goesOn.length);
      continue;
    }
    parts.push(open + part);
    open = "";
  }
  return parts.map((part) => (part === empty ? "" : unescaped(part))).join("/");
}

/** Never overwrites: an export goes into an empty folder. */
export async function writeFolder(
  files: AsyncIterable<TransferFile>,
  dir: string,
): Promise<{ readonly files: number; readonly bytes: number }> {
  let count = 0;
  let bytes = 0;
  for await (const { path, body } of files) {
    const target = join(dir, folderPath(path));
    await mkdir(dirname(target), { recursive: true });
    const out = createWriteStream(target, { flags: "wx" });
    try {
      await pipeline(body, out);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new PinakesError("CONFLICT", `"${target}" exists; export into an empty folder.`, { cause: error });
    }
    count += 1;
    bytes += out.bytesWritten;
  }
  return { files: count, bytes };
}

/** Only regular files: a link could lead out of the folder. */
export function folderReader(dir: string): TransferReader {
  const paths = new Map<string, string>();
  return {
    async *paths() {
      for await (const path of filesBelow(dir, "")) {
        const key = folderKey(path);
        paths.set(key, path);
        yield key;
      }
    },
    open(key) {
      const path = paths.get(key);
      if (path === undefined) throw invalid(`"${key}" is not a file of the folder.`);
      return createReadStream(join(dir, path));
    },
  };
}

async function* filesBelow(dir: string, above: string): AsyncGenerator<string> {
  const entries = await readdir(join(dir, above), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = above === "" ? entry.name : `${above}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(dir, path);
    else if (entry.isFile()) yield path;
  }
}

/** Also characters that Windows does not allow in names, and lone surrogates, which UTF-8 cannot represent. */
function escaped(part: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  // Windows drops a trailing dot or space.
  return part.toWellFormed().replaceAll(/[%\\<>:"|?*\p{Cc}]|[. ]$/gu, hex);
}

function unescaped(part: string): string {
  return part.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Splits between characters, and never inside an escape. */
function shortParts(part: string): readonly string[] {
  const parts: string[] = [];
  let rest = "";
  for (const [piece] of part.matchAll(/%[0-9A-F]{2}|./gsu)) {
    if (Buffer.byteLength(rest + piece) > partBytesMax) {
      parts.push(rest + goesOn);
      rest = "";
    }
    rest += piece;
  }
  return [...parts, rest];
}
