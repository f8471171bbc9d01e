import { invalid, show } from "../../domain/errors.ts";
import { workflowLimits } from "./limits.ts";

export function checkLimit(limit: number | undefined): number {
  const { pageItemsDefault, pageItemsMax } = workflowLimits;
  if (limit === undefined) return pageItemsDefault;
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageItemsMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${pageItemsMax}, got ${show(limit)}.`);
}
