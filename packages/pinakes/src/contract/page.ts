import type { Page } from "@pinakes/client";
import { z } from "zod";

export function pageOf<Item>(item: z.ZodType<Item>): z.ZodType<Page<Item>> {
  return z.object({
    items: z.array(item),
    next_cursor: z.string().nullable(),
    total: z.number().optional().describe("With include_total."),
  }) as unknown as z.ZodType<Page<Item>>;
}
