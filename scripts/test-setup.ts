/** Once before all tests: the web page is built from the sources as they are, and there is a browser to try it in. */
import { ensureBrowser } from "./browser.ts";
import { buildConsole } from "./console.ts";

export default function setup(): void {
  buildConsole();
  ensureBrowser();
}
