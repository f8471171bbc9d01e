#!/usr/bin/env node
/** `pinakes <command>`: the one program. Each command is a file that is loaded when it is asked for. */
import { PinakesError } from "../domain/errors.ts";

const help = `pinakes <command>

  start      run the server (also: npm start)
  vectors    look after vector collections: pinakes vectors --help
  eval       how good searches are on a test set: pinakes eval --help

Settings come from the environment, as for the server: PINAKES_DATA, PINAKES_ITEMS, PINAKES_OBJECTS, … (see docs/reference.md).
`;

async function main([command, ...rest]: readonly string[]): Promise<number> {
  switch (command) {
    case "start":
      await import("./start.ts");
      return 0;
    case "vectors":
      return (await import("./vectors.ts")).vectorsCommand(rest, { env: process.env, out: (text) => process.stdout.write(text) });
    case "eval": {
      const progress = process.stderr.isTTY ? { progress: (text: string) => process.stderr.write(text) } : {};
      return (await import("./eval.ts")).evalCommand(rest, { out: (text) => process.stdout.write(text), ...progress });
    }
    case undefined:
    case "help":
    case "--help":
    case "-h":
      process.stdout.write(help);
      return 0;
    default:
      process.stderr.write(`pinakes: there is no command "${command}".\n\n${help}`);
      return 2;
  }
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== 0) process.exitCode = code;
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    PinakesError.isInstance(error) ? `pinakes: ${message}\n` : `pinakes: unexpected: ${error instanceof Error ? (error.stack ?? message) : message}\n`,
  );
  process.exitCode = 1;
}
