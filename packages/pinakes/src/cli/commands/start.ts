/** `npm start`: runs the server with its stores, until Ctrl-C. Any start error is one line, with exit code 1. */
import { accessSync, constants, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readConfig, type Config } from "../../config.ts";
import { describeItems, describeObjects, describeQueue } from "../../config-stores.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Log } from "../../domain/log.ts";
import { createHttp } from "../../http/app.ts";
import { hasConsole } from "../../http/console.ts";
import { createLogger } from "../../http/framework/index.ts";
import { serve, type RunningServer } from "../../http/serve.ts";
import { readOidcSettings } from "../../identity/index.ts";
import { openStores, type Pinakes } from "../../open.ts";
import { knowledgeOptions } from "../session.ts";
import { newServerSecret, writeServerFile } from "../server-file.ts";
import { rootToken, watchRootToken, type RootToken } from "../root-token.ts";

/** The web console, as in a published package, and as `npm run console` builds it in a checkout. */
const consoleFolders = ["../../../console", "../../../../../apps/console/dist"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

async function start(): Promise<void> {
  const config = readConfig(process.env);
  prepareFolder(config);
  const logger = createLogger({ level: config.logLevel });
  const log: Log = (line, level = "warn", fields = {}) => logger[level](fields, line);
  const root = rootToken(config.stores.data, config.rootToken);
  const pinakes = await openStores(config.stores, {
    log,
    logScope: (line) => logger.debug(line),
    ...knowledgeOptions(config),
    dropBoxes: config.dropBoxes,
    rootToken: root.token,
    migrationSources: config.migrationSources,
    ...(config.oidc === undefined ? {} : { oidc: readOidcSettings(config.oidc) }),
  });
  const closing = new AbortController();
  let server: RunningServer;
  try {
    const { allowedOrigins, publicUrl, requestsPerSecond, connections } = config;
    const console = consoleFolders.find(hasConsole);
    const page = console === undefined ? {} : { console };
    const { app, sockets } = await createHttp(pinakes, {
      log: logger,
      closing: closing.signal,
      allowedOrigins,
      publicUrl,
      requestsPerSecond,
      connections,
      ...page,
    });
    server = await serve(app, { ...config, sockets });
  } catch (error) {
    await pinakes.close();
    throw error;
  }
  watchRootToken(root, (token) => {
    pinakes.identity.replaceRootToken(token);
    logger.info("the root token was replaced; the old one is revoked");
  });
  const secret = newServerSecret();
  pinakes.identity.acceptLocalOperator(secret);
  const removeFile = announce(config, server, secret, log);
  greet(config, pinakes, server, root);
  stopOnSignal({ pinakes, server, closing, removeFile });
}

/** If the folder is not writable, as in a container without one, commands open the stores themselves. */
function announce({ stores }: Config, { url }: RunningServer, secret: string, log: Log): (() => void) | undefined {
  try {
    return writeServerFile(stores, url, secret);
  } catch (error) {
    log(
      `commands on this machine cannot find the server: ${error instanceof Error ? error.message : String(error)}`,
      "info",
    );
    return undefined;
  }
}

/** Checked here, because the stores' own messages about it differ. */
function prepareFolder({ stores: { data, items, objects } }: Config): void {
  const needed = items.engine === "sqlite" || objects.driver === "fs";
  if (!needed) return;
  try {
    mkdirSync(data, { recursive: true });
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(",")[0] : String(error);
    throw new PinakesError(
      "UNAVAILABLE",
      `The data folder ${data} cannot be used (${reason}). Make it writable, or choose another with PINAKES_DATA.`,
      {
        cause: error,
      },
    );
  }
}

function greet({ stores }: Config, pinakes: Pinakes, { url }: RunningServer, { file }: RootToken): void {
  const { name, version, database } = pinakes.info();
  const key = file === undefined ? "$PINAKES_ROOT_TOKEN" : `$(cat ${file})`;
  console.log(`
${name} ${version} listens on ${url}

  database  ${database}
  items     ${describeItems(stores.items)}
  objects   ${describeObjects(stores.objects)}
  queue     ${describeQueue(stores.queue)}
  models    ${pinakes.knowledge.models.map(({ id, provider }) => `${id} (${provider})`).join(", ")}

Open     ${consoleFolders.some(hasConsole) ? `${url}/sign-in#token=${pinakes.identity.sessions.oneTimeToken()}` : "the console is not built: npm run console"}
         (works once, within 15 minutes; later sign in with the key)
Key      ${file === undefined ? "PINAKES_ROOT_TOKEN" : `${file} (readable by its owner only)`}, as: Authorization: Bearer …
Try      export KEY=${key} AT=${url}/v1/repositories/me/collections JSON="content-type: application/json"
         curl -H "Authorization: Bearer $KEY" -H "$JSON" $AT -d '{"collection_id":"notes","name":"Notes"}'
         curl -H "Authorization: Bearer $KEY" -F file=@README.md $AT/notes/documents
         curl -H "Authorization: Bearer $KEY" $AT/notes        # a moment later: "indexing_status":"ready"
         curl -H "Authorization: Bearer $KEY" -H "$JSON" $AT/notes/search -d '{"query":"how do I run the tests?","limit":3}'
Read     ${url}/docs
Stop     Ctrl-C
`);
}

interface Running {
  readonly pinakes: Pinakes;
  readonly server: RunningServer;
  readonly closing: AbortController;
  readonly removeFile: (() => void) | undefined;
}

function stopOnSignal({ pinakes, server, closing, removeFile }: Running): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    // A second signal exits immediately.
    if (stopping) process.exit(1);
    stopping = true;
    console.log(`${signal}: closing.`);
    // First, so that no command uses a server that is about to stop.
    removeFile?.();
    closing.abort();
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
