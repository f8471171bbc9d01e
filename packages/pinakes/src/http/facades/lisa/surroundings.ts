/** Other resources of LISA's clients: models, the configuration, sessions, and knowledge bases. */
import { z } from "zod";
import { jsonValue } from "../../../contract/index.ts";
import { PinakesError } from "../../../domain/errors.ts";
import type { Caller } from "../../../domain/caller.ts";
import type { Knowledge } from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { lisaRoute } from "./lisa-route.ts";
import { knowledgeBaseOf } from "./repository-object.ts";
import { sharedRepositories } from "./repositories.ts";

const Model = z.object({
  modelId: z.string(),
  modelName: z.string(),
  modelType: z.literal("embedding"),
  status: z.literal("InService"),
  streaming: z.literal(false),
});

const Configuration = z.object({
  configScope: z.string(),
  versionId: z.number(),
  changedBy: z.string(),
  changeReason: z.string(),
  createdAt: z.string(),
  configuration: z.object({
    systemBanner: z.object({
      isEnabled: z.boolean(),
      text: z.string(),
      textColor: z.string(),
      backgroundColor: z.string(),
    }),
    enabledComponents: z.record(z.string(), z.boolean()),
  }),
});

/** The parts of LISA's interface that this server supports. */
const components = {
  uploadRagDocs: true,
  documentLibrary: true,
  showRagLibrary: true,
  ragTopK: true,
  ragSelectionAvailable: true,
  viewMetaData: true,
  uploadContextDocs: false,
  documentSummarization: false,
  modelLibrary: false,
  mcpConnections: false,
};

export function surroundingRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    lisaRoute({
      method: "GET",
      path: "/models",
      operationId: "lisaListModels",
      summary: "List the embedding models of this server",
      answers: { 200: { description: "The models.", schema: z.object({ models: z.array(Model) }) } },
      handler: () =>
        ok({
          models: knowledge.models.map(({ id }) => ({
            modelId: id,
            modelName: id,
            modelType: "embedding" as const,
            status: "InService" as const,
            streaming: false as const,
          })),
        }),
    }),
    lisaRoute({
      method: "GET",
      path: "/configuration",
      operationId: "lisaConfiguration",
      summary: "List the parts of LISA's interface that this server supports",
      query: z.object({ configScope: z.string().optional().describe("Default global.") }),
      answers: { 200: { description: "The only version.", schema: z.array(Configuration) } },
      handler: ({ query: { configScope = "global" } }) =>
        ok([
          {
            configScope,
            versionId: 0,
            changedBy: "System",
            changeReason: "The supported parts.",
            createdAt: "0",
            configuration: {
              systemBanner: { isEnabled: false, text: "", textColor: "", backgroundColor: "" },
              enabledComponents: components,
            },
          },
        ]),
    }),
    lisaRoute({
      method: "GET",
      path: "/session",
      operationId: "lisaListSessions",
      summary: "List chat sessions of LISA's interface; always empty, since none are stored here",
      answers: { 200: { description: "None.", schema: z.array(jsonValue()) } },
      handler: () => ok([]),
    }),
    ...knowledgeBaseRoutes(knowledge),
  ];
}

const Base = z.object({
  knowledgeBaseId: z.string(),
  name: z.string(),
  status: z.string(),
  available: z.boolean().describe("false: a repository already uses it."),
});
const DataSourceView = z.object({
  dataSourceId: z.string(),
  name: z.string(),
  status: z.string(),
  s3Bucket: z.string(),
  s3Prefix: z.string(),
  managed: z.boolean(),
});

/** Only those that repositories use: Bedrock is not queried. */
function knowledgeBaseRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    lisaRoute({
      method: "GET",
      path: "/bedrock-kb",
      operationId: "lisaListKnowledgeBases",
      summary: "List the knowledge bases of the caller's repositories",
      answers: {
        200: {
          description: "The knowledge bases.",
          schema: z.object({ knowledgeBases: z.array(Base), totalKnowledgeBases: z.number() }),
        },
      },
      handler: async ({ caller }) => {
        const bases = await basesOf(knowledge, caller);
        const knowledgeBases = bases.map(({ id, name }) => ({
          knowledgeBaseId: id,
          name,
          status: "ACTIVE",
          available: false,
        }));
        return ok({ knowledgeBases, totalKnowledgeBases: knowledgeBases.length });
      },
    }),
    lisaRoute({
      method: "GET",
      path: "/bedrock-kb/{kb}/data-sources",
      operationId: "lisaListDataSources",
      summary: "List the data sources of a knowledge base",
      params: z.object({ kb: z.string().describe("The id of a knowledge base.") }),
      answers: {
        200: {
          description: "The data sources.",
          schema: z.object({
            knowledgeBase: z.object({ id: z.string(), name: z.string() }),
            dataSources: z.array(DataSourceView),
          }),
        },
      },
      handler: async ({ caller, params }) => {
        const base = (await basesOf(knowledge, caller)).find(({ id }) => id === params.kb);
        if (base === undefined) throw new PinakesError("NOT_FOUND", `There is no knowledge base "${params.kb}".`);
        const dataSources = base.dataSources.map(({ id, name, s3Uri }) => {
          const [, s3Bucket = "", s3Prefix = ""] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(s3Uri) ?? [];
          return { dataSourceId: id, name, status: "AVAILABLE", s3Bucket, s3Prefix, managed: true };
        });
        return ok({ knowledgeBase: { id: base.id, name: base.name }, dataSources });
      },
    }),
  ];
}

async function basesOf(knowledge: Knowledge, caller: Caller) {
  return (await sharedRepositories(knowledge, caller)).flatMap((repository) => {
    const base = knowledgeBaseOf(repository);
    return base === undefined
      ? []
      : [{ id: base.knowledgeBaseId, name: repository.name, dataSources: base.dataSources }];
  });
}
