/** Vercel's AI SDK on Pinakes: what models and tools did, as metrics and tool invocations, and a store for chats. */
export { pinakesTelemetry, type PinakesTelemetry, type PinakesTelemetryOptions } from "./telemetry/telemetry.ts";
export type { CallFacts, CallIdentity } from "./telemetry/call-identity.ts";
export { createChatStore, type ChatStore, type ChatStoreOptions } from "./chat/chat-store.ts";
export { pinakesSearch } from "./search-tool.ts";
