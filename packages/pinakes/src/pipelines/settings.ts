/** Validates input for a new pipeline. Pipelines are immutable: delete one and create another. */
import { invalid, show } from "../domain/errors.ts";
import { isJsonObject } from "../domain/json.ts";
import { readChunkingStrategy } from "../knowledge/chunking/index.ts";
import type { NewPipeline } from "../knowledge/records/new-pipeline.ts";
import type { PipelineSettings } from "../knowledge/records/records.ts";
import { isoTime } from "../knowledge/records/times.ts";
import { pipelineLimits } from "./limits.ts";
import { readSchedule } from "./schedule.ts";
import { parseSource, sourceText } from "./source.ts";

const fields = ["trigger", "source", "schedule", "auto_remove", "chunking_strategy", "max_removal_share"];

export function readNewPipeline(
  input: NewPipeline,
  stamp: { readonly id: string; readonly by: string; readonly nowMs: number },
): PipelineSettings {
  if (!isJsonObject(input)) throw invalid("A pipeline must be an object with trigger and source.");
  const unknown = Object.keys(input).find((field) => !fields.includes(field));
  if (unknown !== undefined)
    throw invalid(`${unknown}: is not a field of a new pipeline; fields are ${fields.join(", ")}.`);
  const {
    trigger,
    source,
    schedule,
    auto_remove = false,
    chunking_strategy = null,
    max_removal_share = pipelineLimits.removalShareDefault,
  } = input;
  if (trigger !== "event" && trigger !== "schedule")
    throw invalid(`trigger: must be event or schedule, got ${show(trigger)}.`);
  if (trigger === "event" && schedule !== undefined && schedule !== null)
    throw invalid("schedule: not allowed with the trigger event. Use the trigger schedule.");
  if (typeof auto_remove !== "boolean") throw invalid("auto_remove: must be true or false.");
  if (typeof max_removal_share !== "number" || !(max_removal_share >= 0 && max_removal_share <= 1))
    throw invalid(`max_removal_share: must be a number from 0 to 1, got ${show(max_removal_share)}.`);
  return {
    pipeline_id: stamp.id,
    trigger,
    source: sourceText(parseSource(source)),
    schedule: trigger === "event" ? null : readSchedule(schedule ?? "daily", stamp.nowMs),
    auto_remove,
    chunking_strategy: chunking_strategy === null ? null : readChunkingStrategy(chunking_strategy, "chunking_strategy"),
    max_removal_share,
    created_by: stamp.by,
    created_at: isoTime(stamp.nowMs),
  };
}
