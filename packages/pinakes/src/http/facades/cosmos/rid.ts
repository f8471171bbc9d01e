/** Resource ids as Cosmos DB forms them: 4 bytes of a database, 8 of a container, 16 of an item; base64 with "-" for "/". */
import { hash } from "node:crypto";
import type { DatabaseContainer, DatabaseInfo } from "../../../state/index.ts";

export function databaseRid({ key }: Pick<DatabaseInfo, "key">): string {
  return text(Buffer.from(key, "hex"));
}

export function containerBytes(database: Pick<DatabaseInfo, "key">, { key }: Pick<DatabaseContainer, "key">): Buffer {
  const own = Buffer.from(key, "hex");
  // The bit that tells a container from a user.
  own[0] = (own[0] as number) | 0x80;
  return Buffer.concat([Buffer.from(database.key, "hex"), own]);
}

export function containerRid(database: Pick<DatabaseInfo, "key">, entry: Pick<DatabaseContainer, "key">): string {
  return text(containerBytes(database, entry));
}

/** The same for as long as the item has its id and its partition key. */
export function itemRid(container: Buffer, partition: string, id: string): string {
  return text(Buffer.concat([container, hash("sha256", `${partition}\n${id}`, "buffer").subarray(0, 8)]));
}

export function offerRid(kind: "database" | "container", database: string, container = ""): string {
  return text(hash("sha256", JSON.stringify([kind, database, container]), "buffer").subarray(0, 6));
}

function text(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("/", "-");
}
