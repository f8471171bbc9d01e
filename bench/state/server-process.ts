/** The server of a bench, in a process of its own, so that a client's JSON work does not slow the server. */
import { createApp } from "../../packages/pinakes/src/http/app.ts";
import { serve } from "../../packages/pinakes/src/http/serve.ts";
import { open } from "../../packages/pinakes/src/open.ts";

const [dir = "", items = "", rootToken = ""] = process.argv.slice(2);
const pinakes = await open({ dir, rootToken, ...(items === "" ? {} : { items, objects: `file:${dir}/objects` }) });
const server = await serve(await createApp(pinakes, { requestsPerSecond: 1_000_000 }), { host: "127.0.0.1", port: 0 });
process.send?.({ url: server.url });
process.on("message", () => {
  void (async () => {
    await server.close();
    await pinakes.close();
    process.exit(0);
  })();
});
