/** The tools, prompts and resources that the conformance suite calls, beside our own and on our own transports. */
import {
  completable,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  ResourceTemplate,
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { McpExtension } from "../../../src/mcp/index.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const stepMs = 50;

const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });
const stateKey = "conformance-fixtures-signing-key-0123456789";
const codec = createRequestStateCodec<{ round: number }>({ key: stateKey });

export const conformanceFixtures: McpExtension = {
  options: {
    capabilities: { logging: {}, prompts: { listChanged: true } },
    requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
  },
  register(server) {
    registerContent(server);
    registerNotifying(server);
    registerAsking(server);
    registerInputRequired(server);
    registerResources(server);
    registerPrompts(server);
  },
};

function registerContent(server: McpServer): void {
  const tool = (name: string, result: CallToolResult): void => {
    server.registerTool(name, { description: `Fixture ${name}.` }, async () => result);
  };
  tool("test_simple_text", text("This is a simple text response for testing."));
  tool("test_image_content", { content: [{ type: "image", data: png, mimeType: "image/png" }] });
  tool("test_audio_content", { content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] });
  tool("test_embedded_resource", {
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  });
  tool("test_multiple_content_types", {
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: png, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: '{"test":"data","value":123}',
        },
      },
    ],
  });
  server.registerTool("test_error_handling", { description: "Always fails." }, async () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.registerTool(
    "json_schema_2020_12_tool",
    {
      description: "A schema with $defs.",
      inputSchema: fromJsonSchema({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: {
          address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } },
        },
        properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
        additionalProperties: false,
      }),
    },
    async () => text("ok"),
  );
}

function registerNotifying(server: McpServer): void {
  server.registerTool("test_tool_with_logging", { description: "Logs three times." }, async (ctx: ServerContext) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await ctx.mcpReq.log("info", line);
      await sleep(stepMs);
    }
    return text("Logged.");
  });
  server.registerTool("test_logging_tool", { description: "Logs once." }, async (ctx: ServerContext) => {
    await ctx.mcpReq.log("info", "Only for those who asked for it");
    return text("Logged.");
  });
  server.registerTool("test_tool_with_progress", { description: "Reports progress." }, async (ctx: ServerContext) => {
    const token = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (token !== undefined)
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: token, progress, total: 100 },
        });
      await sleep(stepMs);
    }
    return text("Done.");
  });
}

function registerAsking(server: McpServer): void {
  server.registerTool(
    "test_sampling",
    { description: "Asks the client's model.", inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      const result = await ctx.mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${JSON.stringify(result.content)}`);
    },
  );
  const elicit = (name: string, properties: object, required: string[] = []): void => {
    server.registerTool(
      name,
      { description: "Asks the user.", inputSchema: z.object({ message: z.string().optional() }) },
      async ({ message }, ctx) => {
        const answer = await ctx.mcpReq.elicitInput({
          message: message ?? "Please answer",
          requestedSchema: { type: "object", properties, required } as never,
        });
        return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
      },
    );
  };
  elicit(
    "test_elicitation",
    {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    },
    ["username", "email"],
  );
  elicit("test_elicitation_sep1034_defaults", {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  });
  const options = ["option1", "option2", "option3"];
  const titled = ["First", "Second", "Third"].map((title, i) => ({ const: `value${i + 1}`, title: `${title} Option` }));
  elicit("test_elicitation_sep1330_enums", {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: titled },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: { type: "array", items: { anyOf: titled } },
  });
}

const question = (message: string, field: string, type = "string") =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [field]: { type } }, required: [field] } as never,
  });
const sampling = (prompt: string) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens: 50,
  });

function registerInputRequired(server: McpServer): void {
  type Round = (ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>;
  const tool = (name: string, run: Round): void => {
    server.registerTool(name, { description: `Fixture ${name}.` }, run);
  };
  const replied = (ctx: ServerContext, key: string) => inputResponse(ctx.mcpReq.inputResponses, key);
  tool("test_input_required_result_elicitation", async (ctx) => {
    const reply = replied(ctx, "user_name");
    if (reply.kind !== "elicit" || typeof reply.content?.["name"] !== "string")
      return inputRequired({ inputRequests: { user_name: question("What is your name?", "name") } });
    return text(`Hello, ${reply.content["name"]}!`);
  });
  tool("test_input_required_result_sampling", async (ctx) =>
    replied(ctx, "capital_question").kind === "sampling"
      ? text("Paris is the capital of France.")
      : inputRequired({ inputRequests: { capital_question: sampling("What is the capital of France?") } }),
  );
  tool("test_input_required_result_list_roots", async (ctx) => {
    const reply = replied(ctx, "client_roots");
    return reply.kind === "roots"
      ? text(`Roots: ${reply.roots.map(({ uri }) => uri).join(", ")}`)
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of ["test_input_required_result_request_state", "test_input_required_result_tampered_state"])
    tool(name, async (ctx) =>
      ctx.mcpReq.requestState() !== undefined && replied(ctx, "confirm").kind === "elicit"
        ? text("state-ok")
        : inputRequired({
            inputRequests: { confirm: question("Please confirm", "ok", "boolean") },
            requestState: await codec.mint({ round: 1 }, ctx),
          }),
    );
  tool("test_input_required_result_multiple_inputs", async (ctx) =>
    replied(ctx, "user_name").kind === "elicit" &&
    replied(ctx, "greeting").kind === "sampling" &&
    replied(ctx, "client_roots").kind === "roots"
      ? text("All inputs received.")
      : inputRequired({
          inputRequests: {
            user_name: question("What is your name?", "name"),
            greeting: sampling("Generate a greeting"),
            client_roots: inputRequired.listRoots(),
          },
          requestState: await codec.mint({ round: 1 }, ctx),
        }),
  );
  tool("test_input_required_result_multi_round", async (ctx) => {
    const round = ctx.mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 0)
      return inputRequired({
        inputRequests: { step1: question("Step 1: What is your name?", "name") },
        requestState: await codec.mint({ round: 1 }, ctx),
      });
    if (round === 1)
      return inputRequired({
        inputRequests: { step2: question("Step 2: What is your favorite color?", "color") },
        requestState: await codec.mint({ round: 2 }, ctx),
      });
    return text("Both rounds are complete.");
  });
  tool("test_input_required_result_capabilities", async (ctx) => {
    if (replied(ctx, "user_name").kind === "elicit" || replied(ctx, "greeting").kind === "sampling")
      return text("Answered.");
    const declared = server.server.getClientCapabilities() ?? {};
    const requests = {
      ...(declared.elicitation === undefined ? {} : { user_name: question("What is your name?", "name") }),
      ...(declared.sampling === undefined ? {} : { greeting: sampling("Generate a greeting") }),
    };
    return Object.keys(requests).length === 0 ? text("Nothing to ask.") : inputRequired({ inputRequests: requests });
  });
  tool("test_missing_capability", async (ctx) =>
    replied(ctx, "sampled").kind === "sampling"
      ? text("Sampled.")
      : inputRequired({ inputRequests: { sampled: sampling("Hello") } }),
  );
  server.registerTool(
    "test_streaming_elicitation",
    { description: "Sends progress, then asks." },
    async (ctx: ServerContext) => {
      const reply = replied(ctx, "user_name");
      if (reply.kind === "elicit") return text("Answered.");
      return inputRequired({ inputRequests: { user_name: question("What is your name?", "name") } });
    },
  );
}

function registerResources(server: McpServer): void {
  const describe = (mimeType: string) => ({ description: "A fixture.", mimeType });
  server.registerResource("static-text", "test://static-text", describe("text/plain"), async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }));
  server.registerResource("static-binary", "test://static-binary", describe("image/png"), async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "image/png", blob: png }],
  }));
  server.registerResource("watched", "test://watched-resource", describe("text/plain"), async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "Watched." }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, describe("application/json"), async (uri, { id }) => ({
    contents: [
      {
        uri: uri.href,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }));
}

function registerPrompts(server: McpServer): void {
  const said = (value: string) => ({ role: "user" as const, content: { type: "text" as const, text: value } });
  server.registerPrompt("test_simple_prompt", { description: "Simple." }, async () => ({
    messages: [said("This is a simple prompt for testing.")],
  }));
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "With arguments.",
      argsSchema: z.object({
        arg1: completable(z.string().describe("First test argument"), (value) =>
          ["paris", "park", "party"].filter((name) => name.startsWith(value)),
        ),
        arg2: z.string().describe("Second test argument"),
      }),
    },
    async ({ arg1, arg2 }) => ({ messages: [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource.", argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
          },
        },
        said("Please process the embedded resource above."),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image." }, async () => ({
    messages: [
      { role: "user", content: { type: "image", data: png, mimeType: "image/png" } },
      said("Please analyze the image above."),
    ],
  }));
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks first." }, async (ctx) => {
    const reply = inputResponse(ctx.mcpReq.inputResponses, "user_context");
    if (reply.kind !== "elicit")
      return inputRequired({
        inputRequests: { user_context: question("What context should the prompt use?", "context") },
      });
    return { messages: [said(`Context: ${JSON.stringify(reply.content)}`)] };
  });
}
