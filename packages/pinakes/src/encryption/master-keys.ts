/** The master keys of a file: the current one first, then earlier ones that may still wrap data keys (RFC 0019). */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { PinakesError, invalid } from "../domain/errors.ts";

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const keysMax = 10;
const cipherName = "aes-256-gcm";

interface MasterKey {
  readonly id: string;
  readonly key: Buffer;
}

export class MasterKeys {
  readonly #keys: readonly MasterKey[];
  readonly #file: string;

  private constructor(file: string, keys: readonly MasterKey[]) {
    this.#file = file;
    this.#keys = keys;
  }

  static async read(file: string): Promise<MasterKeys> {
    let text: string;
    try {
      text = await readFile(file, "utf8");
    } catch (error) {
      throw invalid(
        `The master key file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}. ` +
          "Create one with: pinakes encryption new-key <file>",
        { cause: error },
      );
    }
    const lines = text.split("\n").flatMap((line) => (line.trim() === "" || line.startsWith("#") ? [] : [line.trim()]));
    if (lines.length === 0 || lines.length > keysMax)
      throw invalid(
        `The master key file ${file} must have 1–${keysMax} keys, one per line, the current one first; it has ${lines.length}.`,
      );
    return new MasterKeys(
      file,
      lines.map((line, i) => parseKey(line, `${file}, key ${i + 1}`)),
    );
  }

  get currentId(): string {
    return (this.#keys[0] as MasterKey).id;
  }

  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  /** `context` identifies the use of the key; `unwrap` must get the same. */
  wrap(dataKey: Uint8Array, context: string): { readonly master_id: string; readonly wrapped: string } {
    const { id, key } = this.#keys[0] as MasterKey;
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(cipherName, key, nonce).setAAD(Buffer.from(context, "utf8"));
    const sealed = Buffer.concat([nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()]);
    return { master_id: id, wrapped: sealed.toString("base64") };
  }

  unwrap(wrapped: string, masterId: string, context: string): Buffer {
    const bytes = Buffer.from(wrapped, "base64");
    const decipher = createDecipheriv(cipherName, this.#named(masterId), bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(context, "utf8")).setAuthTag(bytes.subarray(bytes.length - tagBytes));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, bytes.length - tagBytes)), decipher.final()]);
    } catch (error) {
      throw new PinakesError("CORRUPT", `The data key ${context} was modified, or wrapped for another context.`, {
        cause: error,
      });
    }
  }

  has(masterId: string): boolean {
    return this.#keys.some(({ id }) => id === masterId);
  }

  missing(masterId: string): PinakesError {
    return invalid(
      `Data keys of this store are wrapped with master key ${masterId}, which is not in ${this.#file} (it has ${this.ids.join(", ")}). ` +
        "Add that key on a line after the current one.",
    );
  }

  #named(masterId: string): Buffer {
    const found = this.#keys.find(({ id }) => id === masterId);
    if (found === undefined) throw this.missing(masterId);
    return found.key;
  }
}

/** Creates the file, readable by its owner only; an existing one is never replaced. Returns the id of the key. */
export async function createMasterKeyFile(file: string): Promise<string> {
  const key = randomBytes(keyBytes);
  try {
    await writeFile(file, `${key.toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw invalid(
      `The master key file ${file} cannot be created: ${error instanceof Error ? error.message : String(error)}.`,
      { cause: error },
    );
  }
  return masterKeyId(key);
}

function parseKey(line: string, where: string): MasterKey {
  const key = Buffer.from(line, "base64");
  if (key.length !== keyBytes || key.toString("base64") !== line)
    throw invalid(`${where}: must be ${keyBytes} random bytes in base64 (44 characters).`);
  return { id: masterKeyId(key), key };
}

function masterKeyId(key: Buffer): string {
  return createHash("sha256").update("pinakes master key").update(key).digest("hex").slice(0, 16);
}
