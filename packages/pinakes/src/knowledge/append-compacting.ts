/** Rows of a migration: vectors that take no more until they are compacted are compacted here, because it must not depend on background work. */
import { PinakesError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { AppendInput } from "../vectors/index.ts";
import type { KnowledgeParts } from "./parts.ts";

export async function appendCompacting({ vectors }: Pick<KnowledgeParts, "vectors">, scope: Scope, name: string, delta: AppendInput): Promise<void> {
  try {
    await vectors.append(scope, name, delta);
  } catch (error) {
    if (!PinakesError.isInstance(error) || error.code !== "THROTTLED") throw error;
    await vectors.compact(scope, name);
    await vectors.append(scope, name, delta);
  }
}
