/** What the kit passes on is what the identity layer made; it checks that again. */
import type { Authenticated as Made } from "../../identity/index.ts";
import type { Authenticated } from "../kit/index.ts";

export function requireIdentity(auth: Authenticated): Made {
  return auth as Made;
}
