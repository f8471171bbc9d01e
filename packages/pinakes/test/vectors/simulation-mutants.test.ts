/** Tests the simulator itself. Each of these protocols lacks one condition (simulation/mutants.ts), and each must be found. */
import { describe, it } from "vitest";
import { hunt } from "./simulation/explore.ts";
import { mutants } from "./simulation/mutants.ts";

const timeout = 300_000;

describe("the simulator finds", () => {
  it("R-CMP-42 mutant: no compare-and-swap of the head", { timeout }, async () => {
    await hunt(mutants.headWithoutCondition);
  });

  it("R-CMP-42 mutant: no epoch in a publish", { timeout }, async () => {
    await hunt(mutants.publishWithoutEpoch);
  });

  it("R-CMP-42 mutant: no barrier before garbage is deleted", { timeout }, async () => {
    await hunt(mutants.collectWithoutBarrier);
  });

  it("R-CMP-42 mutant: no generation in an append", { timeout }, async () => {
    await hunt(mutants.appendWithoutGeneration);
  });

  it("R-CMP-42 mutant: retention from the creation of a version", { timeout }, async () => {
    await hunt(mutants.retentionFromCreation);
  });

  it("R-CMP-42 mutant: tombstones dropped at once", { timeout }, async () => {
    await hunt(mutants.tombstonesDropped);
  });

  it("R-CMP-42 mutant: a heartbeat that takes the lease back", { timeout }, async () => {
    await hunt(mutants.ownerlessHeartbeat);
  });

  it("R-CMP-42 mutant: a deletion without a fence", { timeout }, async () => {
    await hunt(mutants.deletionWithoutFence);
  });

  it("R-CMP-42 mutant: an append that does not check the fence", { timeout }, async () => {
    await hunt(mutants.appendWithoutFence);
  });

  it("R-CMP-42 mutant: a registration that outlives its entry", { timeout }, async () => {
    await hunt(mutants.announcementOutlived);
  });
});
