import { describe, expect, it } from "vitest";
import { modelIdCharsMax, modelsMax } from "./settings-fields.ts";
import { modelDimsMax, readModelSettings } from "./settings.ts";

const local = { id: "all-MiniLM-L6-v2", provider: "local" };
const openai = { id: "small", provider: "openai", model: "text-embedding-3-small", dims: 1536 };

describe("settings of models", () => {
  it("accepts each provider as documented", () => {
    const models = [
      local,
      {
        ...local,
        id: "own",
        dir: "./models/mine",
        threads: 2,
        tokensMax: 510,
        queryPrefix: "query: ",
        documentPrefix: "passage: ",
      },
      {
        ...openai,
        apiKeyEnv: "OPENAI_API_KEY",
        baseUrl: "https://llm.example.org/v1",
        tokensMax: 8191,
        metric: "dot",
        requestDims: true,
      },
      { id: "nomic", provider: "ollama", model: "nomic-embed-text", dims: 768 },
      { id: "titan", provider: "bedrock", model: "amazon.titan-embed-text-v2:0", dims: 1024, region: "eu-central-1" },
    ];
    expect(readModelSettings(models)).toEqual(models);
  });

  it("reports what is wrong and where", () => {
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [{}, /models: must be a list/],
      [[local, local], /models\[1\]\.id: "all-MiniLM-L6-v2" appears twice/],
      [[{ ...local, provider: "magic" }], /models\[0\]\.provider: must be "local", "openai", "ollama" or "bedrock"/],
      [["local"], /models\[0\]: /],
      [[{ ...local, id: "a b" }], /models\[0\]\.id: may have letters/],
      [[{ ...local, dims: 384 }], /models\[0\]: .*dims/],
      [[{ ...openai, dims: undefined }], /models\[0\]\.dims: /],
      [[{ ...openai, dims: 0.5 }], /models\[0\]\.dims: /],
      [[{ ...openai, baseUrl: "ftp://x" }], /models\[0\]\.baseUrl: /],
      [
        [{ ...openai, apiKeyEnv: "sk-123-abc" }],
        /models\[0\]\.apiKeyEnv: must be the name of an environment variable, not the key itself/,
      ],
      [[{ ...openai, provider: "bedrock" }], /models\[0\]\.region: /],
    ];
    for (const [json, message] of wrong) {
      expect(() => readModelSettings(json)).toThrow(
        expect.objectContaining({ code: "INVALID", message: expect.stringMatching(message) }),
      );
    }
  });

  it("accepts each limit and rejects one past it", () => {
    const many = (count: number): unknown[] => Array.from({ length: count }, (_, i) => ({ ...local, id: `m${i}` }));
    expect(readModelSettings(many(modelsMax))).toHaveLength(modelsMax);
    expect(() => readModelSettings(many(modelsMax + 1))).toThrow(/at most 100/);
    expect(readModelSettings([{ ...openai, dims: modelDimsMax }])).toHaveLength(1);
    expect(() => readModelSettings([{ ...openai, dims: modelDimsMax + 1 }])).toThrow(/dims/);
    expect(readModelSettings([{ ...local, id: "x".repeat(modelIdCharsMax) }])).toHaveLength(1);
    expect(() => readModelSettings([{ ...local, id: "x".repeat(modelIdCharsMax + 1) }])).toThrow(/id/);
  });
});
