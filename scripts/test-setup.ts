/** Once before all tests: builds the web page from the current sources, and provides a browser. */
import { ensureBrowser } from "./browser.ts";
import { buildConsole } from "./console.ts";

export default function setup(): void {
  buildConsole();
  ensureBrowser();
}
