/** Small internal records: definitions of user containers, rules, feed positions. One partition per topic. */
import type { ContainerDefinition } from "../ports/item-store.ts";

export const settingsContainer: ContainerDefinition = Object.freeze({
  name: "state-settings",
  partitionKey: ["topic"],
});
