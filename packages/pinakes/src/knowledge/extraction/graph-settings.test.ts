import { describe, expect, it } from "vitest";
import { checkChatModel, effectiveGraph, readGraphSettings } from "./graph-settings.ts";

describe("graph settings", () => {
  it("given settings are kept, missing ones get their default", () => {
    expect(readGraphSettings({})).toEqual({ extract: "structured" });
    const all = { extract: "llm", key: "name", model: "m", entity_types: ["Person"] };
    expect(readGraphSettings(all)).toEqual(all);
  });

  it.each([
    [[], "must be an object"],
    [{ extract: "all" }, "graph.extract: must be one of off, structured"],
    [{ extracts: "off" }, "graph.extracts: is not known"],
    [{ key: "" }, "graph.key"],
    [{ key: 1 }, "graph.key"],
    [{ entity_types: [] }, "graph.entity_types: must be a list of 1–50"],
    [{ entity_types: [""] }, "graph.entity_types[0]"],
    [{ model: {} }, "graph.model"],
  ])("%j is refused with instructions", (input, detail) => {
    expect(() => readGraphSettings(input)).toThrow(detail);
  });

  it("settings at the limits are accepted, beyond them refused", () => {
    expect(
      readGraphSettings({
        key: "k".repeat(200),
        model: "m".repeat(128),
        entity_types: Array.from({ length: 50 }, () => "t".repeat(128)),
      }).key,
    ).toHaveLength(200);
    expect(() => readGraphSettings({ key: "k".repeat(201) })).toThrow("1–200 characters");
    expect(() => readGraphSettings({ model: "m".repeat(129) })).toThrow("1–128 characters");
    expect(() => readGraphSettings({ entity_types: Array.from({ length: 51 }, () => "t") })).toThrow("1–50");
    expect(() => readGraphSettings({ entity_types: ["t".repeat(129)] })).toThrow("1–128 characters");
  });

  it("the collection's own settings take precedence over the repository's, and those over the system's", () => {
    expect(effectiveGraph({}, {})).toEqual({ extract: "structured" });
    expect(effectiveGraph({ graph: { extract: "off" } }, { graph: null })).toEqual({ extract: "off" });
    expect(effectiveGraph({ graph: { extract: "off" } }, { graph: { extract: "cooccurrence" } })).toEqual({
      extract: "cooccurrence",
    });
  });

  it("a chat model must be configured to be used", () => {
    const chat = { models: [{ id: "m", provider: "ollama" }], get: () => Promise.reject(new Error("not asked")) };
    expect(() => checkChatModel({ extract: "llm" }, undefined)).toThrow("PINAKES_CHAT_MODELS");
    expect(() => checkChatModel({ extract: "llm", model: "x" }, chat)).toThrow("configured are m");
    expect(() => checkChatModel({ extract: "llm", model: "m" }, chat)).not.toThrow();
    expect(() => checkChatModel({ extract: "structured" }, undefined)).not.toThrow();
  });
});
