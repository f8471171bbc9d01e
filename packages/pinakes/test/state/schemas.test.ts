import type { Memory, Metric, ToolInvocation, Workflow } from "@pinakes/client";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { z } from "zod";
import { MemorySchema, MetricSchema, ToolInvocationSchema, WorkflowSchema } from "../../src/index.ts";

describe("the schemas that are published", () => {
  it("have the fields that the client's types have", () => {
    // Said of how it is shown, and never stored.
    expectTypeOf<Exclude<keyof Workflow, "checkpoints_omitted">>().toExtend<keyof z.output<typeof WorkflowSchema>>();
    expectTypeOf<keyof Memory>().toExtend<keyof z.output<typeof MemorySchema>>();
    expectTypeOf<keyof Metric>().toExtend<keyof z.output<typeof MetricSchema>>();
    expectTypeOf<keyof ToolInvocation>().toExtend<keyof z.output<typeof ToolInvocationSchema>>();
    expectTypeOf<z.output<typeof WorkflowSchema>["status"]>().toEqualTypeOf<Workflow["status"]>();
    expectTypeOf<z.output<typeof MemorySchema>["message_type"]>().toEqualTypeOf<Memory["message_type"]>();
    expectTypeOf<z.output<typeof MetricSchema>["metric_type"]>().toEqualTypeOf<Metric["metric_type"]>();
    expectTypeOf<z.output<typeof ToolInvocationSchema>["status"]>().toEqualTypeOf<ToolInvocation["status"]>();
  });

  it("refuse what is no such document, naming the field", () => {
    for (const schema of [WorkflowSchema, MemorySchema, MetricSchema, ToolInvocationSchema]) {
      const paths = schema
        .safeParse({ status: "asleep", message_type: "whisper", metric_type: "mood" })
        .error?.issues.map(({ path }) => path[0]);
      expect(paths).toEqual(expect.arrayContaining(["id", "workspace_id"]));
    }
  });
});
