/** The root token: from the environment, or generated once and stored in the data folder, readable by its owner only. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PinakesError } from "../domain/errors.ts";

const watchMs = 2_000;

export interface RootToken {
  readonly token: string;
  /** The file; absent if the token came from the environment. */
  readonly file?: string;
}

export function rootToken(data: string, given: string | undefined): RootToken {
  if (given !== undefined) return { token: given };
  const file = join(data, "root-token");
  if (existsSync(file)) {
    const token = readFileSync(file, "utf8").trim();
    if (token === "")
      throw new PinakesError(
        "CORRUPT",
        `The file ${file} is empty. Remove it to generate a new token, or set PINAKES_ROOT_TOKEN.`,
      );
    return { token, file };
  }
  mkdirSync(data, { recursive: true });
  const token = newToken();
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    // Another process created the token first.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return rootToken(data, undefined);
  }
  chmodSync(file, 0o600);
  return { token, file };
}

/** Replaces the token in the data folder atomically: readers see the old one or the new one. */
export function rotateRootToken(data: string): string {
  const file = join(data, "root-token");
  const next = `${file}.${randomBytes(6).toString("hex")}`;
  writeFileSync(next, `${newToken()}\n`, { mode: 0o600, flag: "wx" });
  chmodSync(next, 0o600);
  renameSync(next, file);
  return file;
}

/** Calls back with the token whenever the file changes. */
export function watchRootToken({ token, file }: RootToken, onChange: (token: string) => void): () => void {
  if (file === undefined) return () => {};
  let known = token;
  const look = (): void => {
    const now = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
    // A removed token stays valid until there is a new one.
    if (now === "" || now === known) return;
    known = now;
    onChange(now);
  };
  const timer = setInterval(look, watchMs).unref();
  return () => clearInterval(timer);
}

function newToken(): string {
  return randomBytes(32).toString("base64url");
}
