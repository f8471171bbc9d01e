/** Clears all data of the previous user at sign-in and sign-out. */
import { forgetCalls } from "../api/calls.ts";
import { queryClient } from "./query-client.ts";

export function forgetEverything(): void {
  queryClient.clear();
  forgetCalls();
}
