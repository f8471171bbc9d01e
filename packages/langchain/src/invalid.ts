import { PinakesClientError } from "@pinakes/client";

/** Something that LangChain allows and Pinakes does not. */
export function invalid(detail: string): PinakesClientError {
  return new PinakesClientError({ code: "INVALID", status: 400, detail });
}
