/** The server of this bench, in a process of its own, as in production: it serves reads and does the delete. */
import { createApp } from "../../packages/pinakes/src/http/app.ts";
import { serve } from "../../packages/pinakes/src/http/serve.ts";
import { open, type OpenOptions } from "../../packages/pinakes/src/open.ts";

const pinakes = await open(JSON.parse(process.argv[2] ?? "{}") as OpenOptions);
const server = await serve(await createApp(pinakes, { requestsPerSecond: 1_000_000 }), { host: "127.0.0.1", port: 0 });
process.send?.({ url: server.url });
process.on("message", () => {
  void (async () => {
    await server.close();
    await pinakes.close();
    process.exit(0);
  })();
});
