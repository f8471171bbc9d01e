/** Pipelines as an attribute of the repository: a list that replaces the previous one. */
import type { Pipeline } from "@pinakes/client";
import type { Caller } from "../../../domain/caller.ts";
import type { Knowledge, NewPipeline } from "../../../knowledge/index.ts";
import { requireSame, toPipeline, type PipelineInput } from "./settings.ts";

/**
 * Adds new pipelines and removes those missing from the list; an existing one must be unchanged. Pipelines on folders are not part of LISA
 * and are kept.
 */
export async function syncPipelines(
  knowledge: Pick<Knowledge, "collections" | "pipelines">,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  inputs: readonly PipelineInput[],
  isOwn: (pipeline: Pipeline) => boolean = ({ source }) => source.startsWith("s3://"),
): Promise<readonly Pipeline[]> {
  const at = [caller, repositoryId, collectionId] as const;
  const { pipelines } = await knowledge.collections.get(...at);
  const own = pipelines.filter(isOwn);
  const wanted = inputs.map((input, i) => ({
    pipeline: toPipeline(input, `pipelines[${i}]`),
    where: `pipelines[${i}]`,
  }));
  const kept: Pipeline[] = [];
  const added: NewPipeline[] = [];
  for (const { pipeline, where } of wanted) {
    const known = own.find(({ source }) => source === pipeline["source"]);
    if (known === undefined) added.push(pipeline);
    else {
      requireSame(known, pipeline, where);
      kept.push(known);
    }
  }
  // Checked before anything is removed.
  await knowledge.pipelines.check(caller, added);
  for (const gone of own) if (!kept.includes(gone)) await knowledge.pipelines.delete(...at, gone.pipeline_id);
  const made: Pipeline[] = [];
  for (const pipeline of added) made.push(await knowledge.pipelines.create(...at, pipeline));
  return [...kept, ...made];
}
