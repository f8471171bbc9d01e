/**
 * A folder as a source. Links to files inside the folder are followed, since some systems publish files that way; links that lead out, and
 * links to folders, are not. Real paths are resolved on every call, so a link added later opens nothing.
 */
import { constants, type BigIntStats } from "node:fs";
import { lstat, open, readdir, realpath, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { PinakesError, invalid, show } from "../domain/errors.ts";
import type { SourceEntry, SourceFile, SourceReader } from "../ports/source-reader.ts";
import { pipelineLimits } from "./limits.ts";

const scheme = "file:";
const readBytes = 262_144;

export class FolderReader implements SourceReader {
  readonly #folder: string;
  readonly #allowed: readonly string[];

  /** `allowed`: folders of the operator, one of which must contain the folder's real path. */
  constructor(folder: string, allowed: readonly string[]) {
    this.#folder = folder;
    this.#allowed = allowed;
  }

  async check(): Promise<void> {
    await readdir(await this.#root()).catch((error: unknown) => {
      throw unreadable(this.#folder, error);
    });
  }

  async *list(signal?: AbortSignal): AsyncGenerator<SourceEntry> {
    const root = await this.#root();
    const folders: { readonly path: string; readonly depth: number }[] = [{ path: this.#folder, depth: 0 }];
    for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
      signal?.throwIfAborted();
      const { path, depth } = next;
      if (depth > pipelineLimits.folderDepthMax)
        throw new PinakesError(
          "LIMIT_EXCEEDED",
          `The folder ${show(path)} is nested deeper than ${pipelineLimits.folderDepthMax} folders. Move it up.`,
        );
      for (const entry of await this.#entriesOf(path, root)) {
        const inside = join(path, entry.name);
        if (entry.isDirectory() && !isHidden(entry.name)) folders.push({ path: inside, depth: depth + 1 });
        else {
          const found = await this.#look(inside, root);
          if (found !== undefined) yield found;
        }
      }
    }
  }

  async stat(uri: string): Promise<SourceEntry | undefined> {
    const path = this.#path(uri);
    const root = await this.#root();
    const hidden = relative(this.#folder, dirname(path)).split(sep).some(isHidden);
    return hidden || !(await this.#isPlain(dirname(path), root)) ? undefined : this.#look(path, root);
  }

  async *open(uri: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const path = this.#path(uri);
    await using file = await this.#openInside(path);
    const before = await file.stat({ bigint: true });
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(readBytes), 0, readBytes);
      if (bytesRead === 0) break;
      yield buffer.subarray(0, bytesRead);
    }
    if (etagOf(before) !== etagOf(await file.stat({ bigint: true })))
      throw new PinakesError("UNAVAILABLE", `The file ${show(path)} changed while it was read.`);
  }

  /** The folder's real path. Throws if it does not exist or is outside the allowed folders. */
  async #root(): Promise<string> {
    let root: string;
    try {
      root = await realpath(this.#folder);
      if (!(await stat(root)).isDirectory()) throw new Error("it is not a folder");
    } catch (error) {
      throw unreadable(this.#folder, error);
    }
    const allowed = await Promise.all(this.#allowed.map((folder) => realpath(folder).catch(() => undefined)));
    if (allowed.some((folder) => folder !== undefined && isInside(root, folder))) return root;
    throw new PinakesError(
      "FORBIDDEN",
      `The folder ${show(this.#folder)} resolves to a path that the operator of this server has not allowed for pipelines.`,
    );
  }

  /** A folder deleted since has no entries; an unreadable one is an error. */
  async #entriesOf(path: string, root: string) {
    try {
      if (!(await this.#isPlain(path, root))) return [];
      return await readdir(path, { withFileTypes: true });
    } catch (error) {
      if (path !== this.#folder && isGone(error)) return [];
      throw unreadable(path, error);
    }
  }

  /** No links on the path from the source to it. */
  async #isPlain(folder: string, root: string): Promise<boolean> {
    try {
      return (await realpath(folder)) === join(root, relative(this.#folder, folder));
    } catch (error) {
      if (isGone(error)) return false;
      throw unreadable(folder, error);
    }
  }

  async #look(path: string, root: string): Promise<SourceEntry | undefined> {
    const uri = `${scheme}${path}`;
    const name = basename(path);
    if (isHidden(name)) return { uri, reason: "is hidden: its name starts with a dot" };
    if (name.includes("\uFFFD")) return { uri, reason: "its name is not valid UTF-8" };
    try {
      const found = await lstat(path, { bigint: true });
      if (found.isFile()) return fileOf(uri, name, found);
      if (!found.isSymbolicLink()) return found.isDirectory() ? undefined : { uri, reason: "is not a file" };
      return await this.#lookBehind(path, uri, root);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw unreadable(path, error);
    }
  }

  async #lookBehind(path: string, uri: string, root: string): Promise<SourceEntry> {
    const target = await realpath(path).catch((error: unknown) => {
      if (isGone(error) || (error as NodeJS.ErrnoException).code === "ELOOP") return undefined;
      throw error;
    });
    if (target === undefined) return { uri, reason: "is a broken link" };
    if (!isInside(target, root)) return { uri, reason: "is a link that leads out of the folder" };
    const found = await stat(target, { bigint: true });
    return found.isFile()
      ? fileOf(uri, basename(path), found)
      : { uri, reason: "is a link to something other than a file; links to folders are not followed" };
  }

  /** Resolved before and after: a link placed in between is detected, because then another file is open. */
  async #openInside(path: string): Promise<FileHandle> {
    const root = await this.#root();
    const outside = () =>
      new PinakesError("FORBIDDEN", `The file ${show(path)} leads out of the folder ${show(this.#folder)}.`);
    try {
      const target = await realpath(path);
      if (!isInside(target, root)) throw outside();
      // Does not block in case it became a pipe.
      const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const [opened, there, again] = [
          await file.stat({ bigint: true }),
          await stat(target, { bigint: true }),
          await realpath(target),
        ];
        if (again !== target || opened.ino !== there.ino || opened.dev !== there.dev || !opened.isFile())
          throw outside();
        return file;
      } catch (error) {
        await file.close();
        throw error;
      }
    } catch (error) {
      if (PinakesError.isInstance(error)) throw error;
      if (isGone(error)) throw new PinakesError("NOT_FOUND", `The file ${show(path)} is gone.`, { cause: error });
      throw unreadable(path, error);
    }
  }

  #path(uri: string): string {
    const path = uri.slice(scheme.length);
    const parts = path.split(sep);
    if (
      !uri.startsWith(scheme) ||
      !isInside(path, this.#folder) ||
      path === this.#folder ||
      parts.slice(1).some((part) => ["", ".", ".."].includes(part))
    )
      throw invalid(`${show(uri)} is not under ${scheme}${this.#folder}.`);
    return path;
  }
}

function fileOf(uri: string, name: string, found: BigIntStats): SourceFile {
  return { uri, name, bytes: Number(found.size), etag: etagOf(found) };
}

/** Change time and size: detects changes without reading any bytes. */
function etagOf({ mtimeNs, size }: BigIntStats): string {
  return `${mtimeNs}-${size}`;
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

export function isHidden(name: string): boolean {
  return name.startsWith(".");
}

function isGone(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === "ENOENT" || code === "ENOTDIR";
}

function unreadable(path: string, error: unknown): PinakesError {
  if (PinakesError.isInstance(error)) return error;
  const said = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
  const detail = `${show(path)} cannot be read (${said}). Is it mounted, and may the server read it?`;
  return new PinakesError("UNAVAILABLE", detail, { cause: error, retryable: false });
}
