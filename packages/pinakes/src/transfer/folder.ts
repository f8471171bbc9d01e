/**
 * Exports in a folder of this machine. Keys of objects are not always names of files: users' ids may hold "/", ".." or "|", and file
 * names may be longer than a file system takes. So each part of a key is written with "%" and two hex digits where it must be, and one
 * that is too long goes on in a folder of its own, whose name ends with "%~". A folder that was not written here (a copy of a bucket)
 * has no such names and is read as it is.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { PinakesError, invalid } from "../domain/errors.ts";
import type { TransferFile, TransferReader } from "./files.ts";

/** File systems take 255 bytes; the mark and a suffix have room. */
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

/** The key that a path was written for. */
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

/** Nothing that is there is written over: an export goes into a folder without one. */
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

/** Regular files only: a link could lead out of the folder. */
export function folderReader(dir: string): TransferReader {
  const places = new Map<string, string>();
  return {
    async *paths() {
      for await (const path of filesBelow(dir, "")) {
        const key = folderKey(path);
        places.set(key, path);
        yield key;
      }
    },
    open(key) {
      const path = places.get(key);
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

/** Also what Windows does not take in names, and a lone surrogate, which UTF-8 cannot say. */
function escaped(part: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  // A dot or space at the end is lost on Windows.
  return part.toWellFormed().replaceAll(/[%\\<>:"|?*\p{Cc}]|[. ]$/gu, hex);
}

function unescaped(part: string): string {
  return part.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Cut between characters, and never inside an escape. */
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
