/** `npm start`: the server with its stores, until Ctrl-C. Whatever stops the start is told in one line, with exit code 1. */
import { accessSync, constants, mkdirSync } from "node:fs";
import { describeItems, describeObjects, describeQueue, readConfig, type Config } from "../config.ts";
import { PinakesError } from "../domain/errors.ts";
import { createApp } from "../http/app.ts";
import { serve, type RunningServer } from "../http/serve.ts";
import { openStores, type Pinakes } from "../open.ts";

async function start(): Promise<void> {
  const config = readConfig(process.env);
  prepareFolder(config);
  const log = (line: string) => console.error(`${new Date().toISOString()} ${line}`);
  const pinakes = await openStores(config.stores, { log, vectors: config.vectors, dropBoxes: config.dropBoxes });
  let server: RunningServer;
  try {
    server = await serve(createApp(pinakes, { log }), config);
  } catch (error) {
    await pinakes.close();
    throw error;
  }
  greet(config, pinakes, server);
  stopOnSignal(pinakes, server);
}

/** Asked here and not of the stores, whose own words about it differ. */
function prepareFolder({ stores: { data, items, objects } }: Config): void {
  const needed = items.engine === "sqlite" || objects.driver === "fs";
  if (!needed) return;
  try {
    mkdirSync(data, { recursive: true });
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(",")[0] : String(error);
    throw new PinakesError("UNAVAILABLE", `The data folder ${data} cannot be used (${reason}). Make it writable, or choose another with PINAKES_DATA.`, {
      cause: error,
    });
  }
}

function greet({ stores }: Config, pinakes: Pinakes, { url }: RunningServer): void {
  const { name, version, database } = pinakes.info();
  console.log(`
${name} ${version} listens on ${url}

  database  ${database}
  items     ${describeItems(stores.items)}
  objects   ${describeObjects(stores.objects)}
  queue     ${describeQueue(stores.queue)}

Try      curl ${url}/v1/info
         curl ${url}/readyz
Stop     Ctrl-C
`);
}

function stopOnSignal(pinakes: Pinakes, server: RunningServer): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    // A second signal does not wait.
    if (stopping) process.exit(1);
    stopping = true;
    console.log(`${signal}: closing.`);
    server
      .close()
      .then(() => pinakes.close())
      .then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}

function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  console.error(PinakesError.isInstance(error) ? `pinakes: ${message}` : `pinakes: the start failed: ${message}`);
  process.exit(1);
}

await start().catch(fail);
