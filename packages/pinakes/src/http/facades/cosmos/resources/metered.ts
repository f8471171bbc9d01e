/** Runs what costs request units within the budget of its container. */
import type { FoundContainer } from "../../../../state/index.ts";
import type { CosmosAnswer, CosmosContext } from "../context.ts";
import { budgetOf } from "./find-container.ts";
import { metadataCharge } from "../throughput/charge.ts";

export async function metered(
  context: CosmosContext,
  found: FoundContainer,
  run: () => Promise<CosmosAnswer>,
): Promise<CosmosAnswer> {
  const budget = budgetOf(context, found);
  if (budget === undefined) return run();
  const { budgets } = context.facade;
  budgets.require(budget);
  try {
    const made = await run();
    budgets.spend(budget, made.charge ?? metadataCharge);
    return made;
  } catch (error) {
    // A refusal has cost a look at what is there.
    budgets.spend(budget, metadataCharge);
    throw error;
  }
}
