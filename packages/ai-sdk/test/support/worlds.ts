import { openWorld, type Engine, type Via } from "../../../client/test/support/worlds.ts";

export { openWorld };

export const ways: readonly (readonly [Engine, Via])[] = [
  ["sqlite", "embedded"],
  ["sqlite", "http"],
];
