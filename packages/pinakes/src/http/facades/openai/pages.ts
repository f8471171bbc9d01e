/** Lists in OpenAI's format: the id of an object is the position in a list. */
import { z } from "zod";
import { queryInteger } from "../../framework/index.ts";

export const storePaging = {
  limit: queryInteger({ min: 1, max: 100 }).optional().describe("Objects per page; default 20."),
  order: z.enum(["asc", "desc"]).optional().describe("Order by creation time; default desc."),
  after: z.string().min(1).max(256).optional().describe("Id of an object: returns the objects after it."),
  before: z.string().min(1).max(256).optional().describe("Id of an object: returns the objects before it."),
};

export const pageDefault = 20;

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    object: z.literal("list"),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

export function list<Item extends { readonly id?: unknown }>(data: readonly Item[], has_more: boolean) {
  return {
    object: "list" as const,
    data,
    first_id: (data[0]?.id as string | undefined) ?? null,
    last_id: (data.at(-1)?.id as string | undefined) ?? null,
    has_more,
  };
}

export function seconds(iso: string): number {
  return Math.floor(Date.parse(iso) / 1_000);
}
