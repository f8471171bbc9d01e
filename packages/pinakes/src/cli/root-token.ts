/** The root token: from the environment, or made once and kept in the data folder, readable by its owner only. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PinakesError } from "../domain/errors.ts";

export interface RootToken {
  readonly token: string;
  /** Where it is kept; absent when it came from the environment. */
  readonly file?: string;
  /** Just now: it was never shown. */
  readonly made?: true;
}

export function rootToken(data: string, given: string | undefined): RootToken {
  if (given !== undefined) return { token: given };
  const file = join(data, "root-token");
  if (existsSync(file)) {
    const token = readFileSync(file, "utf8").trim();
    if (token === "") throw new PinakesError("CORRUPT", `The file ${file} is empty. Remove it to have a new token made, or set PINAKES_ROOT_TOKEN.`);
    return { token, file };
  }
  mkdirSync(data, { recursive: true });
  const token = randomBytes(32).toString("base64url");
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    // Another process was faster: there is one token.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return rootToken(data, undefined);
  }
  chmodSync(file, 0o600);
  return { token, file, made: true };
}
