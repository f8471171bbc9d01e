/** What repairs removed, and how to restore it. */
export { keepGeneration, keepObject, keepRows, keepTriples, type Keeping } from "./keep.ts";
export { quarantineLimits } from "./limits.ts";
export { Quarantine, type QuarantineQuery } from "./quarantine.ts";
