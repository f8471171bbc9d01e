/** Schemas of memories, agents and sessions. */
import { memorySorts, messageTypes, sortOrders, ttlUnits } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import { sessionsOf, sessionTokenHeader } from "../session-token.ts";
import { queryInteger } from "../framework/index.ts";

export const aid = z.string().min(1).max(256).describe("Id of the agent.");
export const sid = z.string().min(1).max(256).describe("Id of the session.");
export const mid = z.string().min(1).max(1_023).describe("Id of the message.");
export const bodyBytesMax = 4_194_304;

export const Memory = shape<wire.Stored<wire.Memory>>()(
  z
    .looseObject({
      id: z.string(),
      agent_id: z.string(),
      session_id: z.string(),
      workspace_id: z.string(),
      content: z.string(),
      message_type: z.enum(messageTypes),
      timestamp: z.string(),
      relevance_score: z.number(),
      token_count: z.number(),
      parent_message_id: z.string().nullable(),
      metadata: z.looseObject({}),
      created_at: z.string(),
      ttl: z.number().optional(),
      ttl_unit: z.literal("session").optional().describe("For a session that expires as a whole."),
      _etag: z.string(),
      _ts: z.number(),
    })
    .meta({ id: "Memory" }),
);

export const Agent = shape<wire.Agent>()(
  z.object({ agent_id: z.string(), first_message_at: z.string(), last_message_at: z.string() }).meta({ id: "Agent" }),
);

export const Session = shape<wire.Session>()(
  z
    .object({
      agent_id: z.string(),
      session_id: z.string(),
      message_count: z.number(),
      token_count: z.number().nullable().describe("The sum over its messages; null in lists."),
      first_message_at: z.string().nullable(),
      last_message_at: z.string().nullable(),
      forked_from: z.string().optional(),
      ttl_unit: z.enum(ttlUnits).describe("`session`: the whole session expires this long after its last message."),
    })
    .meta({ id: "Session" }),
);

/** In the property order of the request: responses return properties in the order in which they were sent. The feature validates. */
export const newMessage = {
  id: z.json().optional(),
  agent_id: z.json().optional(),
  session_id: z.json().optional(),
  workspace_id: z.json().optional(),
  content: z.json().optional(),
  message_type: z
    .json()
    .optional()
    .describe(`One of ${messageTypes.join(", ")}.`),
  timestamp: z.json().optional().describe("Default: now."),
  relevance_score: z.json().optional().describe("0–1; default 0.5."),
  token_count: z.json().optional().describe("Default: estimated from the content."),
  parent_message_id: z.json().optional().describe("The message it replies to."),
  metadata: z.json().optional(),
  created_at: z.json().optional(),
  ttl: z.json().optional().describe("Seconds; -1: never. Default 90 days."),
  ttl_unit: z
    .enum(ttlUnits)
    .optional()
    .describe("With the first message of a session; `session`: all its messages expire together."),
};

export const several = z
  .array(z.looseObject(newMessage))
  .optional()
  .describe("Several messages, under either name, instead of one.");

export const paging = {
  limit: queryInteger().optional().describe("Messages per page; default 100, maximum 1,000."),
  cursor: z.string().optional().describe("`next_cursor` of the previous page."),
};

export const inSession = {
  message_type: z.enum(messageTypes).optional(),
  sort: z.enum(memorySorts).optional().describe("Default `timestamp`; `relevance`: best first."),
  order: z.enum(sortOrders).optional(),
  ...paging,
};

/** Read-your-writes: the lists include the client's own writes. */
export const shown = (header: (name: string) => string | undefined) => ({
  session: sessionsOf(header(sessionTokenHeader), "agent-memories"),
});
