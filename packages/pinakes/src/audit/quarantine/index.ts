/** What repairs took away, and the way back. */
export { keepGeneration, keepObject, keepRows, keepTriples, type Keeping } from "./keep.ts";
export { quarantineLimits } from "./limits.ts";
export { Quarantine, type QuarantineQuery } from "./quarantine.ts";
