/** The objects in the byte order of their keys, with one folder's names in memory per level, skipping what cannot match. */
import { join } from "node:path";
import { ignoring, type Files } from "./files.ts";
import { decodeName, fromByteString, toByteString, type DecodedName } from "./object-path.ts";

export interface WalkRequest {
  readonly prefix: string;
  readonly after: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FoundObject {
  readonly key: string;
  readonly path: string;
}

interface Level {
  readonly path: string;
  /** Byte string of the key so far. */
  readonly base: string;
  /** Names still to visit, the next one last. */
  readonly names: Entry[];
}

interface Entry extends DecodedName {
  readonly name: string;
}

export async function* walkObjects(
  files: Files,
  root: string,
  request: WalkRequest,
): AsyncGenerator<FoundObject, void> {
  const prefix = toByteString(request.prefix);
  const after = request.after === undefined ? undefined : toByteString(request.after);
  const levels: Level[] = [{ path: root, base: "", names: toEntries(await files.readdir(root)) }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    request.signal?.throwIfAborted();
    const entry = level.names.pop();
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    const bytes = level.base + entry.bytes;
    const path = join(level.path, entry.name);
    if (entry.kind === "object") {
      if (bytes.startsWith(prefix) && (after === undefined || bytes > after))
        yield { key: fromByteString(bytes), path };
    } else if (mayHold(bytes, prefix, after)) {
      levels.push({ path, base: bytes, names: await namesIn(files, path) });
    }
  }
}

/** Whether keys that begin with `bytes` can begin with the prefix and sort after `after`. */
function mayHold(bytes: string, prefix: string, after: string | undefined): boolean {
  if (!bytes.startsWith(prefix) && !prefix.startsWith(bytes)) return false;
  return after === undefined || after < bytes || after.startsWith(bytes);
}

/** A folder may vanish during the walk: its objects were deleted, so there is nothing to list. (The root may not: that is an error.) */
async function namesIn(files: Files, path: string): Promise<Entry[]> {
  return toEntries((await ignoring(["ENOENT"], files.readdir(path))) ?? []);
}

function toEntries(names: readonly string[]): Entry[] {
  const entries = names.flatMap((name) => {
    const decoded = decodeName(name);
    return decoded === undefined ? [] : [{ ...decoded, name }];
  });
  return entries.sort((a, b) => (a.bytes < b.bytes ? 1 : a.bytes > b.bytes ? -1 : 0));
}
