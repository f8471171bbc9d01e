/** Agents, messages, and what was said in them, for the tests of memories. */
import type { Memory, NewMemory } from "@pinakes/client";

let agents = 0;
export const newAgent = (): string => `agent-${(agents += 1)}`;
export const said = (content: string, more: Partial<NewMemory> = {}) => ({
  session_id: "s1",
  content,
  message_type: "user" as const,
  ...more,
});
export const contents = (items: readonly Pick<Memory, "content">[]): string[] => items.map(({ content }) => content);
