/** Alarms of a workspace over HTTP. */
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import type { Pinakes } from "../../open.ts";
import { alarmStates } from "../../ops/index.ts";
import { defineRoute, ok, type Route } from "../framework/index.ts";

const Alarm = shape<wire.AlarmState>()(
  z
    .object({
      name: z.string(),
      help: z.string(),
      unit: z.enum(["seconds", "operations"]),
      value: z.number(),
      threshold: z.number().describe("The alarm fires above this value."),
      firing: z.boolean(),
      detail: z.string().nullable().describe("What is wrong and where to look; null unless the alarm fires."),
    })
    .meta({ id: "Alarm" }),
);

export function alarmRoutes({ alarms }: Pick<Pinakes, "alarms">): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/alarms",
      operationId: "listAlarms",
      summary: "List all alarms with value, threshold and state; admins only",
      tag: "operation",
      auth: "caller",
      answers: { 200: { description: "The alarms.", schema: z.object({ items: z.array(Alarm) }) } },
      handler: async ({ caller }) => ok({ items: await alarmStates(alarms, caller) }),
    }),
  ];
}
