/** Upload and download links, and the key that seals cursors. */
import type { ContainerDefinition } from "../../ports/item-store.ts";

export const grantsContainer: ContainerDefinition = Object.freeze({
  name: "knowledge-grants",
  partitionKey: ["grant"],
  ttl: -1,
});
