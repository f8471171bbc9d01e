/** A console in a browser for the tests of a describe block: one server and one browser, started before them and closed after. */
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { browserPath, launchBrowser, openPage, signedIn, type OpenPage } from "./browser.ts";
import { startServer, type ConsoleServer } from "./server.ts";

interface ConsoleSuite<Server extends ConsoleServer> {
  /** Its properties can be read once the tests run. */
  readonly server: Server;
  /** A page, at an address of the console with a session when one is named. */
  open(path?: string, options?: BrowserContextOptions): Promise<OpenPage>;
}

interface SuiteOptions<Server extends ConsoleServer> {
  readonly start?: () => Promise<Server>;
  /** What the tests expect to find. */
  readonly seed?: (server: Server) => Promise<unknown>;
}

export function consoleSuite<Server extends ConsoleServer = ConsoleServer>(
  name: string,
  { start = startServer as unknown as () => Promise<Server>, seed }: SuiteOptions<Server>,
  tests: (suite: ConsoleSuite<Server>) => void,
): void {
  describe.skipIf(browserPath === undefined)(`console: ${name}`, () => {
    let running: Server | undefined;
    let browser: Browser | undefined;
    const started = (): Server => {
      if (running === undefined)
        throw new Error("The server is started before the tests, not while they are declared.");
      return running;
    };
    beforeAll(async () => {
      [running, browser] = await Promise.all([start(), launchBrowser()]);
      await seed?.(running);
    });
    afterAll(async () => {
      await browser?.close();
      await running?.close();
    });
    tests({
      server: new Proxy({} as Server, { get: (_, property) => Reflect.get(started(), property) as unknown }),
      open: async (path, options) => {
        const opened = await openPage(browser as Browser, options);
        if (path !== undefined) await signedIn(opened.page, started(), path);
        return opened;
      },
    });
  });
}
