/**
 * The browser for the tests of the web page: Chromium of the system, or the one that PINAKES_CHROMIUM names. Without one it is installed
 * from the system's packages if possible (Debian, Ubuntu, as root); otherwise those tests are skipped with the reason.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

export function findBrowser(): string | undefined {
  const named = process.env["PINAKES_CHROMIUM"];
  return [...(named === undefined ? [] : [named]), ...places].find((path) => existsSync(path));
}

export function ensureBrowser(): string | undefined {
  return findBrowser() ?? installed();
}

function installed(): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    console.warn(
      "No Chromium: the tests of the web page are skipped. Install it, or set PINAKES_CHROMIUM to its path.",
    );
    return undefined;
  }
  console.log("No Chromium: installing it from the system's packages for the tests of the web page.");
  const options = { stdio: "inherit", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } } as const;
  try {
    execFileSync("apt-get", ["update", "-q"], options);
    execFileSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium"], options);
  } catch (error) {
    console.warn(
      `Chromium could not be installed (${error instanceof Error ? error.message : String(error)}): the tests of the web page are skipped.`,
    );
  }
  return findBrowser();
}
