/**
 * Appends the rows of a migration: vectors that refuse more rows until compaction are compacted here, since a migration must not depend on
 * background work.
 */
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { AppendInput } from "../../vectors/index.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

interface Compacting {
  readonly signal: AbortSignal;
  /** A heartbeat before and after: compaction may take a while. */
  readonly beat?: (() => Promise<void> | undefined) | undefined;
}

export async function appendCompacting(
  { vectors }: Pick<KnowledgeDependencies, "vectors">,
  scope: Scope,
  name: string,
  delta: AppendInput,
  { signal, beat }: Compacting,
): Promise<void> {
  try {
    await vectors.append(scope, name, delta);
  } catch (error) {
    if (!hasCode(error, "THROTTLED")) throw error;
    await beat?.();
    await vectors.compact(scope, name, { signal });
    await beat?.();
    await vectors.append(scope, name, delta);
  }
}
