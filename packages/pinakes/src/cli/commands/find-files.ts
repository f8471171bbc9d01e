/** Expands files, folders and patterns of the command line. */
import { glob, readdir, stat } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { fileTypeOf } from "../../domain/file-type.ts";

export interface FoundFile {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  /** The path inside the specified folder or pattern, with "/"; only the name for a file that was specified directly. */
  readonly place: string;
  readonly bytes: number;
}

export interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** Files of unsupported types. */
  readonly skipped: readonly string[];
}

export const addFilesMax = 100_000;

/** Hidden files and folders are skipped, unless specified directly. */
export async function findFiles(named: readonly string[], cwd: string, filesMax = addFilesMax): Promise<FoundFiles> {
  const found = new Map<string, FoundFile>();
  const skipped = new Set<string>();
  for (const word of named) {
    for await (const file of filesOf(word, cwd)) {
      if (fileTypeOf(file.name) === undefined) skipped.add(relative(cwd, file.path));
      else if (!found.has(file.path)) found.set(file.path, file);
      if (found.size > filesMax)
        throw new PinakesError("LIMIT_EXCEEDED", `These are more than ${filesMax} files; add them in several calls.`);
    }
  }
  return { files: withOwnPlaces([...found.values()], cwd), skipped: [...skipped] };
}

async function* filesOf(word: string, cwd: string): AsyncGenerator<FoundFile> {
  const path = resolve(cwd, word);
  const known = await stat(path).catch(absent);
  if (known?.isFile() === true) return yield fileAt(path, basename(path), known.size);
  if (known?.isDirectory() === true) return yield* filesIn(path, path);
  if (known !== undefined) throw invalid(`"${word}" is neither a file nor a folder.`);
  if (!isPattern(word)) throw new PinakesError("NOT_FOUND", `There is no file or folder "${word}".`);
  const base = resolve(cwd, fixedPart(word));
  let any = false;
  for await (const match of glob(word, { cwd })) {
    any = true;
    const matched = resolve(cwd, match);
    const info = await stat(matched).catch(absent);
    if (info?.isFile() === true && !isHidden(relative(base, matched)))
      yield fileAt(matched, relative(base, matched), info.size);
  }
  if (!any) throw new PinakesError("NOT_FOUND", `No file matches "${word}".`);
}

/** Ordered by name. Links to folders are not followed, because they could form cycles. */
async function* filesIn(folder: string, root: string): AsyncGenerator<FoundFile> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path, root);
    else if (entry.isFile() || entry.isSymbolicLink()) {
      const info = await stat(path).catch(absent);
      if (info?.isFile() === true) yield fileAt(path, relative(root, path), info.size);
    }
  }
}

function fileAt(path: string, place: string, bytes: number): FoundFile {
  return { path, name: basename(path), place: place.split(sep).join("/"), bytes };
}

/** Files that would become the same document, such as a/x.md and b/x.md, are distinguished by their full path. */
function withOwnPlaces(files: readonly FoundFile[], cwd: string): readonly FoundFile[] {
  const times = new Map<string, number>();
  for (const { place } of files) times.set(placeKey(place), (times.get(placeKey(place)) ?? 0) + 1);
  return files.map((file) => {
    if (times.get(placeKey(file.place)) === 1) return file;
    const way = relative(cwd, file.path);
    return { ...file, place: (way.startsWith("..") ? file.path : way).split(sep).join("/") };
  });
}

/** Names of documents ignore case. */
export function placeKey(place: string): string {
  return place.normalize("NFC").toLowerCase().trim();
}

function isPattern(word: string): boolean {
  return /[*?[\]{}]/.test(word);
}

/** The path before the first segment with a wildcard. */
function fixedPart(pattern: string): string {
  const parts = pattern.split("/");
  const wild = parts.findIndex(isPattern);
  return parts.slice(0, Math.min(wild, parts.length - 1)).join("/") || (pattern.startsWith("/") ? "/" : ".");
}

function isHidden(place: string): boolean {
  return place.split(sep).some((part) => part.startsWith(".") && part !== ".." && part !== ".");
}

function absent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
    return undefined;
  throw invalid(error instanceof Error ? error.message : String(error), { cause: error });
}
