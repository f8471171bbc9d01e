/** The address through which a client reached the server, so that the client can use a link directly. */
import type { RouteRequest } from "../framework/route.ts";

export function originOf({ raw, header }: Pick<RouteRequest, "raw" | "header">): string {
  const url = new URL(raw.url);
  if (header("x-forwarded-proto") === "https") url.protocol = "https:";
  return url.origin;
}
