/** An S3 that answers 500, 503 SlowDown or not at all: a real server behind a proxy that corrupts answers. */
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemScope } from "../../src/domain/scope.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { openS3Objects } from "../../src/drivers/s3/index.ts";
import { startS3 } from "../../src/drivers/s3/test-server.ts";
import { openVectors, type OpenedVectors } from "../../src/vectors/open-vectors.ts";
import { scope } from "./support/machine.ts";
import { line, refusalOf, rowsOf } from "./support/state.ts";
import { forAllTests } from "../support/for-tests.ts";

type Trouble = "500" | "503" | "cut" | "cut after" | "silent";

let proxy: Server;
let opened: OpenedVectors;
let trouble: { kind: Trouble; matches: (method: string, path: string) => boolean; left: number } | undefined;

const codes: Record<string, string> = { "500": "InternalError", "503": "SlowDown" };

const s3 = forAllTests(() => startS3());
beforeAll(async () => {
  const target = new URL(s3.endpoint);
  proxy = createServer((incoming, answer) => {
    const spoilt =
      trouble !== undefined && trouble.left > 0 && trouble.matches(incoming.method ?? "", incoming.url ?? "")
        ? trouble
        : undefined;
    if (spoilt !== undefined) spoilt.left -= 1;
    if (spoilt?.kind === "silent") return void incoming.resume();
    if (spoilt?.kind === "cut") return void incoming.socket.destroy();
    if (spoilt?.kind === "500" || spoilt?.kind === "503") {
      incoming.resume();
      answer.writeHead(Number(spoilt.kind), { "content-type": "application/xml", connection: "close" });
      return void answer.end(
        `<?xml version="1.0"?><Error><Code>${codes[spoilt.kind]}</Code><Message>injected</Message></Error>`,
      );
    }
    const { method, url: path, headers } = incoming;
    const outgoing = request({ host: target.hostname, port: target.port, method, path, headers }, (response) => {
      if (spoilt?.kind === "cut after") return void incoming.socket.destroy();
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(outgoing);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const bucket = await s3.bucket("trouble");
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const objects = await openS3Objects({ ...bucket, endpoint, attemptsMax: 1, idleMsMax: 500 });
  opened = await openVectors({
    items: await openMemoryItems(),
    objects,
    system: systemScope("tests", () => {}),
    threads: 1,
  });
});
afterAll(async () => {
  await opened.close();
  proxy.close();
  proxy.closeAllConnections();
});

const isPut = (folder: string) => (method: string, path: string) => method === "PUT" && path.includes(`/${folder}/`);

describe("vectors: an S3 with failures", () => {
  for (const kind of ["500", "503", "cut", "cut after", "silent"] as const) {
    it(`rows 13, 31: R-CMP-09 ${kind}: an append and a fold fail with UNAVAILABLE, count nothing, and succeed afterwards`, async () => {
      const { vectors } = opened;
      const id = `c-${kind.replace(" ", "-")}`;
      await vectors.create(scope, id, { dims: 2, metric: "dot" });
      const input = { deltaId: "d", upsert: [{ id: "a", vector: [1, 2] }] };
      trouble = { kind, matches: isPut("deltas"), left: 1 };
      expect(await refusalOf(vectors.append(scope, id, input))).toMatchObject({ code: "UNAVAILABLE", retryable: true });
      expect(await vectors.append(scope, id, input)).toMatchObject({ seq: 1 });
      trouble = { kind, matches: isPut("segments"), left: 1 };
      expect(await refusalOf(vectors.compact(scope, id))).toMatchObject({ code: "UNAVAILABLE" });
      expect(await vectors.stats(scope, id)).toMatchObject({ version: 0, pendingDeltas: 1, deadDeltas: 0 });
      trouble = { kind, matches: isPut("manifests"), left: 1 };
      expect(await refusalOf(vectors.compact(scope, id))).toMatchObject({ code: "UNAVAILABLE" });
      expect(trouble.left).toBe(0);
      expect(await vectors.compact(scope, id)).toMatchObject({ outcome: "done", folds: 1 });
      expect(await rowsOf(vectors, id)).toEqual([line("a", [1, 2])]);
      expect(await vectors.collect(scope, id)).toMatchObject({ outcome: "done" });
      expect((await vectors.fsck(scope, id)).findings).toEqual([]);
    });
  }
});
