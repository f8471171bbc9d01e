/** Sessions of the OpenAI Agents SDK that last, on Pinakes' threads. */
export { PinakesSession, type PinakesSessionOptions } from "./pinakes-session.ts";
export { pinakesSearch } from "./search-tool.ts";
