/** For tests in which nothing is parsed or embedded; any attempt throws. */
import { PinakesError } from "../../src/domain/errors.ts";
import type { KnowledgeDependencies } from "../../src/knowledge/index.ts";

export const withoutModels: Pick<KnowledgeDependencies, "embedders" | "parser"> = {
  embedders: { defaultModel: "none", models: [{ id: "none", provider: "none" }], get: unused },
  parser: { parse: unused, close: async () => {} },
};

async function unused(): Promise<never> {
  throw new PinakesError("INTERNAL", "This test needs no model.");
}
