/** Whoever sits here next, or signs in again, begins with nothing of the one before. */
import { forgetCalls } from "../api/calls.ts";
import { queryClient } from "./query-client.ts";

export function forgetEverything(): void {
  queryClient.clear();
  forgetCalls();
}
