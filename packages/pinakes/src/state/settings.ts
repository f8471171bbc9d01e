/** Small records that are not documents of agents: definitions of own containers, rules, places in feeds. One partition per topic. */
import type { ContainerDefinition } from "../ports/item-store.ts";

export const settingsContainer: ContainerDefinition = Object.freeze({
  name: "state-settings",
  partitionKey: ["topic"],
});
