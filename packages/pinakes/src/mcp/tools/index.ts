/** The list of all tools. */
import type { McpTool } from "../tool.ts";
import { answerTools } from "./answer.ts";
import { catalogMcpTools } from "./catalogs.ts";
import { erasureTools } from "./erasures.ts";
import { graphTools } from "./graph.ts";
import { jobTools } from "./jobs.ts";
import { memoryTools } from "./memories.ts";
import { searchTools } from "./search.ts";
import { seriesTools } from "./series.ts";
import { workflowTools } from "./workflows.ts";

export const tools: readonly McpTool[] = [
  ...searchTools,
  ...answerTools,
  ...catalogMcpTools,
  ...graphTools,
  ...workflowTools,
  ...memoryTools,
  ...seriesTools,
  ...erasureTools,
  ...jobTools,
];
