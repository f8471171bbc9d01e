/** Where a command looks: the folder or server of its stores, and the workspace. Shown when nothing was found. */
import { readdir } from "node:fs/promises";
import type { Config } from "../config.ts";
import { describeItems } from "../config-stores.ts";
import { hasCode, PinakesError } from "../domain/errors.ts";

/** A read command must not create an empty store: in the wrong folder that would hide the mistake. */
export async function requireData({ stores: { items } }: Pick<Config, "stores">): Promise<void> {
  if (items.engine !== "sqlite") return;
  const names = await readdir(items.dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (names.some((name) => name.endsWith(".sqlite"))) return;
  throw new PinakesError(
    "NOT_FOUND",
    `There is no data in ${items.dir}. Change to the folder that has ./data, or set the data folder: PINAKES_DATA=/path/to/data. A server creates a new one: pinakes start.`,
  );
}

export interface StoreLocation {
  /** Absent for a server, where the key determines it. */
  readonly workspace?: string;
  /** The engine with its folder or address; or the address of the server. */
  readonly store: string;
}

export function placeOf({ stores }: Pick<Config, "stores">, workspace: string): StoreLocation {
  return { workspace, store: describeItems(stores.items).replaceAll(/\s+/g, " ") };
}

/** `There are none in workspace default (sqlite  /data).` and how to look elsewhere. */
export function nothingIn(place: StoreLocation, what = "There are none"): string {
  return `${what} in ${whereOf(place)}. ${elsewhere(place)}`;
}

function whereOf({ workspace, store }: StoreLocation): string {
  return workspace === undefined ? `the workspace of the key at ${store}` : `workspace ${workspace} (${store})`;
}

function elsewhere({ workspace }: StoreLocation): string {
  return workspace === undefined
    ? "Look elsewhere with another --key or --url."
    : "Look elsewhere with --workspace ID, or in another folder with PINAKES_DATA.";
}

/** The same for a single missing resource. */
export function notFoundIn(place: StoreLocation, error: unknown): unknown {
  if (!hasCode(error, "NOT_FOUND")) return error;
  return new PinakesError("NOT_FOUND", `${error.detail} This is ${whereOf(place)}. ${elsewhere(place)}`, {
    cause: error,
  });
}
