/**
 * What a migration may open. An admin of a workspace is not the operator of the machine: without a list of theirs no file is read and no
 * address is called, so that a migration leads neither to other tenants' files nor into the network behind the server.
 */
import { realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { PinakesError, show } from "../domain/errors.ts";

export class Places {
  readonly #allowed: readonly string[] | "any";

  constructor(allowed: readonly string[] | "any") {
    this.#allowed = allowed;
  }

  /** The path, without links that lead out of what is allowed. */
  async file(path: string): Promise<string> {
    const wanted = await real(path);
    if (this.#allowed === "any") return wanted;
    for (const folder of this.#allowed) {
      if (isAddress(folder)) continue;
      const root = await real(folder);
      if (wanted === root || wanted.startsWith(root.endsWith(sep) ? root : root + sep)) return wanted;
    }
    throw this.#refused(path);
  }

  /** The same scheme, host and port, and a path below. */
  address(address: string): string {
    if (this.#allowed === "any") return address;
    const wanted = parsed(address);
    for (const allowed of this.#allowed) {
      const one = isAddress(allowed) ? parsed(allowed) : undefined;
      if (one === undefined || wanted === undefined || one.protocol !== wanted.protocol || one.host !== wanted.host) continue;
      const root = one.pathname.replace(/\/$/, "");
      if (wanted.pathname === root || wanted.pathname.startsWith(`${root}/`)) return address;
    }
    throw this.#refused(address);
  }

  #refused(place: string): PinakesError {
    return new PinakesError(
      "FORBIDDEN",
      `${show(place)} is not among the places that migrations may read here; the operator names them in PINAKES_MIGRATION_SOURCES, or migrates with the command line.`,
    );
  }
}

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function parsed(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}

/** What is not there has no links; whoever opens it says so. */
async function real(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}
