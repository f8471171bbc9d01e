/** The source of a pipeline: `file:/folder` or `s3://bucket/prefix`. A prefix is a folder: "docs" does not match "docs2". */
import { isAbsolute, sep } from "node:path";
import { invalid, show } from "../domain/errors.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";

export type Source = FolderSource | BucketSource;

export interface FolderSource {
  readonly kind: "file";
  /** Absolute, without "." and "..". */
  readonly path: string;
}

export interface BucketSource {
  readonly kind: "s3";
  readonly bucket: string;
  /** "" or ending with "/". */
  readonly prefix: string;
}

export const control = /\p{Cc}/u;
const bucketPattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/s;

export function parseSource(text: unknown, where = "source"): Source {
  const form = `${where}: write file:/folder or s3://bucket/prefix, got ${show(text)}.`;
  if (typeof text !== "string") throw invalid(form);
  if (text.length > knowledgeLimits.sourceCharsMax)
    throw invalid(`${where}: has more than ${knowledgeLimits.sourceCharsMax} characters.`);
  if (control.test(text) || !text.isWellFormed()) throw invalid(`${where}: must not contain control characters.`);
  if (text.startsWith("file:")) return { kind: "file", path: folderPath(text.slice("file:".length), where) };
  const [, bucket, prefix = ""] = bucketPattern.exec(text) ?? [];
  if (bucket === undefined) throw invalid(form);
  return { kind: "s3", bucket, prefix: asFolder(prefix) };
}

/** The canonical form of a source, which prefixes the URI of every file in it. */
export function sourceText(source: Source): string {
  return source.kind === "file" ? `file:${source.path}` : `s3://${source.bucket}/${source.prefix}`;
}

/** The common URI prefix of a source's files. */
export function filesBegin(source: string): string {
  const end = source.startsWith("file:") ? sep : "/";
  return source.endsWith(end) ? source : `${source}${end}`;
}

export function overlap(a: string, b: string): boolean {
  const [one, other] = [filesBegin(a), filesBegin(b)];
  return one.startsWith(other) || other.startsWith(one);
}

export function asFolder(prefix: string): string {
  return prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
}

function folderPath(text: string, where: string): string {
  const path = text.replace(/^\/\/(?=\/)/, "");
  if (!isAbsolute(path))
    throw invalid(`${where}: the folder must be an absolute path, such as file:/srv/documents, got ${show(text)}.`);
  const parts = path.split(sep);
  if (parts.includes("..") || parts.includes("."))
    throw invalid(`${where}: a folder must be written without "." and "..", got ${show(path)}.`);
  const clean = parts.filter((part, i) => i === 0 || part !== "").join(sep);
  return clean === "" ? sep : clean;
}
