import type { CreatedKey, Key, NewKey } from "@pinakes/client";
import { pagedOptions } from "./page.ts";
import { path, post, request } from "./request.ts";

export const keysKey = ["keys"] as const;

export const keysOptions = pagedOptions<Key>(keysKey, "/v1/keys");

export function createKey(input: NewKey): Promise<CreatedKey> {
  return post<CreatedKey>("/v1/keys", input);
}

export async function revokeKey(id: string): Promise<void> {
  await request("DELETE", path`/v1/keys/${id}`);
}
