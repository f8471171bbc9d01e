/** The file functions of this driver as one value, so that a test can watch or break them, and the meaning of their errors. */
import * as promises from "node:fs/promises";
import { PinakesError } from "../../domain/errors.ts";

export interface Files {
  open(path: string, flags: string): Promise<OpenFile>;
  mkdir(path: string): Promise<unknown>;
  rename(from: string, to: string): Promise<void>;
  link(existing: string, path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  readdir(path: string): Promise<string[]>;
  stat(path: string): Promise<FileStat>;
}

export interface OpenFile {
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  stat(): Promise<FileStat>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface FileStat {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  readonly birthtimeMs: number;
}

export const nodeFiles: Files = promises;

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export async function ignoring<T>(codes: readonly string[], promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (codes.includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** An error of the file system as an error of the port. Anything else passes unchanged. */
export function storeError(error: unknown, dir: string): unknown {
  const code = errorCode(error);
  if (PinakesError.isInstance(error) || code === undefined || !("syscall" in (error as object))) return error;
  const cause = { cause: error };
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new PinakesError(
        "UNAVAILABLE",
        `The disk of the object folder ${dir} is full (${code}). Free space, then try again.`,
        cause,
      );
    case "EMFILE":
    case "ENFILE":
      return new PinakesError(
        "UNAVAILABLE",
        `Too many open files (${code}). Try again, or raise the limit (ulimit -n).`,
        cause,
      );
    case "ENAMETOOLONG":
      return new PinakesError(
        "LIMIT_EXCEEDED",
        `This file system cannot hold a path as long as the key needs under ${dir}; use a shorter key or folder.`,
        cause,
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new PinakesError(
        "UNAVAILABLE",
        `The object folder ${dir} does not allow this (${code}); check its owner and permissions.`,
        {
          ...cause,
          retryable: false,
        },
      );
    default:
      return new PinakesError("UNAVAILABLE", `The object folder ${dir} failed: ${(error as Error).message}`, cause);
  }
}
