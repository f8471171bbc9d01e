import { describe, expect, it } from "vitest";
import { modelsMax } from "../settings-fields.ts";
import { readChatSettings } from "./settings.ts";

const own = { id: "own", provider: "ollama", model: "llama3.2" };

describe("chat models in the settings", () => {
  it("are read as they are written", () => {
    const all = [
      own,
      { id: "o", provider: "openai", model: "m", apiKeyEnv: "KEY" },
      { id: "b", provider: "bedrock", model: "m", region: "eu-central-1" },
    ];
    expect(readChatSettings(all)).toEqual(all);
  });

  it.each([
    [{}, "chatModels: must be a list"],
    [[{ ...own, provider: "other" }], 'chatModels[0].provider: must be "openai", "ollama" or "bedrock"'],
    [[{ ...own, apiKeyEnv: "sk-secret" }], "must be the name of an environment variable"],
    [[{ ...own, baseUrl: "ftp://x" }], "chatModels[0].baseUrl"],
    [[own, own], 'chatModels[1].id: "own" appears twice'],
    [[{ ...own, id: "a b" }], "chatModels[0].id"],
  ])("%j is refused", (input, detail) => {
    expect(() => readChatSettings(input)).toThrow(detail);
  });

  it("the maximum number is accepted, one more is rejected", () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ...own, id: `m${i}` }));
    expect(readChatSettings(many(modelsMax))).toHaveLength(modelsMax);
    expect(() => readChatSettings(many(modelsMax + 1))).toThrow(`at most ${modelsMax}`);
  });
});
