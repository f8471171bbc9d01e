/** A server whose files a test can reach: to put what nobody understands into its queue, to take a file away, to put something in the way. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./browser.ts";
import { startServer, type ConsoleServer } from "./server.ts";

export interface OperationServer extends ConsoleServer {
  /** Where its items and objects are. */
  readonly folder: string;
  /** Makes a collection of the repository `kb`. */
  make(cid: string): Promise<void>;
  /** Uploads a document and waits until it is indexed or has failed. */
  upload(cid: string, name: string, text: string): Promise<void>;
  /** The file that is the stored content of the one document of a collection. */
  contentOf(cid: string): Promise<string>;
}

export async function startOperationServer(): Promise<OperationServer> {
  const folder = await mkdtemp(join(tmpdir(), "pinakes-console-operation-"));
  const server = await startServer({
    PINAKES_ITEMS: `sqlite:${folder}`,
    PINAKES_OBJECTS: `file:${folder}/objects`,
    PINAKES_DELETION_LAG_SECONDS: "1",
  });
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  return {
    ...server,
    folder,
    make: async (cid) =>
      void (await server.api("POST", "/v1/repositories/kb/collections", { collection_id: cid, name: cid })),
    upload: (cid, name, text) => upload(server, cid, name, text),
    contentOf: async (cid) => {
      const { incarnation } = await server.api<{ readonly incarnation: string }>(
        "GET",
        `/v1/repositories/kb/collections/${cid}`,
      );
      const files = await readdir(join(folder, "objects"), { recursive: true });
      const found = files.find((file) => file.includes(incarnation) && file.endsWith("content.o"));
      if (found === undefined) throw new Error(`No content of ${cid} among ${files.length} files.`);
      return join(folder, "objects", found);
    },
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function upload(server: ConsoleServer, cid: string, name: string, text: string): Promise<void> {
  const form = new FormData();
  form.append("file", new Blob([text]), name);
  const headers = { authorization: `Bearer ${server.key}` };
  const answer = await fetch(`${server.url}/v1/repositories/kb/collections/${cid}/documents`, {
    method: "POST",
    headers,
    body: form,
  });
  const { job_id } = (await answer.json()) as { readonly job_id: string };
  const status = async () => (await server.api<{ readonly status: string }>("GET", `/v1/jobs/${job_id}`)).status;
  await eventually(status).toMatch(/succeeded|failed/);
}
