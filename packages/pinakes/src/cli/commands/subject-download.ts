/**
 * Downloads the archives of a subject export. A file gets its name once its hash is that of the export; until then it is `<name>.part`,
 * from whose end a later download continues.
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { SubjectExport, SubjectExportPart, SubjectExportsApi } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface DownloadedFile extends SubjectExportPart {
  readonly file: string;
}

export async function downloadParts(
  api: Pick<SubjectExportsApi, "part">,
  { export_id, state, parts }: SubjectExport,
  folder: string,
  terminal: Terminal,
): Promise<readonly DownloadedFile[]> {
  if (state !== "ready")
    throw new PinakesError("CONFLICT", `The export ${export_id} is ${state}: it has no archives to download.`);
  const to = resolve(terminal.cwd, folder);
  await mkdir(to, { recursive: true });
  const files: DownloadedFile[] = [];
  for (const part of parts) {
    const file = join(to, `${export_id}-${part.part}.zip`);
    if (!(await matches(file, part))) await download(api, export_id, part, file, terminal);
    files.push({ ...part, file });
  }
  return files;
}

async function download(
  api: Pick<SubjectExportsApi, "part">,
  exportId: string,
  part: SubjectExportPart,
  file: string,
  { signal, err, progressColumns }: Terminal,
): Promise<void> {
  const partial = `${file}.part`;
  const kept = await sizeOf(partial);
  // A longer file cannot be a partial download of this archive.
  const start = kept > part.bytes ? 0 : kept;
  if (start < part.bytes) {
    const bar = progressColumns === undefined ? undefined : new ProgressBar(err, undefined, progressColumns);
    const body = await api.part(exportId, part.part, { start, signal });
    let done = start;
    const counted = async function* (): AsyncGenerator<Uint8Array, void> {
      for await (const chunk of body) {
        yield chunk;
        done += chunk.length;
        bar?.show(`archive ${part.part}`, done, part.bytes);
      }
    };
    try {
      await pipeline(counted, createWriteStream(partial, { flags: start === 0 ? "w" : "a" }), { signal });
    } finally {
      bar?.end();
    }
  }
  if (!(await matches(partial, part))) {
    await rm(partial, { force: true });
    throw new PinakesError("CORRUPT", `The hash of archive ${part.part} is not that of the export; download it again.`);
  }
  await rename(partial, file);
}

async function matches(file: string, { bytes, sha256 }: SubjectExportPart): Promise<boolean> {
  if ((await sizeOf(file)) !== bytes) return false;
  const digest = createHash("sha256");
  await pipeline(createReadStream(file), digest);
  return digest.digest("hex") === sha256;
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}
