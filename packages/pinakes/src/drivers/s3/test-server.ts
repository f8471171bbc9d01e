/** For tests: a real server of the S3 API in a process of its own, in memory, deleted by `stop`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { S3ObjectsOptions } from "./index.ts";

export interface S3Server {
  readonly endpoint: string;
  /** The options of a bucket of this server, which is created. */
  bucket(name: string): Promise<S3ObjectsOptions>;
  stop(): Promise<void>;
}

const credentials = { accessKeyId: "test", secretAccessKey: "test" };

export async function startS3(): Promise<S3Server> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./test-server-process.ts", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    bucket: async (name) => {
      const { CreateBucketCommand, S3Client } = await import("@aws-sdk/client-s3");
      const client = new S3Client({ endpoint, region: "us-east-1", credentials, forcePathStyle: true });
      await client.send(new CreateBucketCommand({ Bucket: name }));
      client.destroy();
      return { bucket: name, endpoint, region: "us-east-1", credentials, pathStyle: true };
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
