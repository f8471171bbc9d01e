/** JSON of any form, with the contract's types for it: zod's own type of JSON has no absent properties. */
import type { JsonObject, JsonValue } from "@pinakes/client";
import { z } from "zod";

export function jsonValue(): z.ZodType<JsonValue> {
  return z.json();
}

export function jsonObject(): z.ZodType<JsonObject> {
  return z.record(z.string(), z.json());
}
