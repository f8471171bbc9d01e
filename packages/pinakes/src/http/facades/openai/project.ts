/** The project of a client is a repository: `new OpenAI({ project: "kb" })`. */
import { defaultProject } from "./stores.ts";

export function projectOf(header: (name: string) => string | undefined): string {
  const project = header("openai-project")?.trim();
  return project === undefined || project === "" ? defaultProject : project;
}
