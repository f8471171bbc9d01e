/** `pinakes stores …`: which store the items, objects and triples of the settings belong to (RFC 0016). */
import { readConfig } from "../../config.ts";
import { describeItems, describeObjects } from "../../config-stores.ts";
import { storeIds } from "../../open.ts";
import { defineCommand, failureExitCode, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { fields } from "../terminal/layout.ts";
import { requireData } from "../store-location.ts";
import { logOf } from "../session.ts";
import { styled } from "../terminal/terminal.ts";

const show = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "show the store id of each store; exit code 1 if they do not belong together",
  options: {},
  examples: ["pinakes stores show", "PINAKES_OBJECTS=file:./other pinakes stores show --json"],
  localOnly: "it reads the ids in the stores directly",
  run: (call) => outcome(call, false),
});

const bind = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "declare that these objects and triples belong to these items, overriding their store ids",
  details: `For objects that were restored without their id, or a folder that replaces a lost one. First check what is missing: pinakes fsck.
Nothing else is changed, and binding the correct store later undoes it.`,
  options: { yes: yesOption },
  examples: ["pinakes stores bind", "PINAKES_OBJECTS=s3://new-bucket/pinakes pinakes stores bind --yes"],
  localOnly: "it reads the ids in the stores directly",
  run: async (call) => {
    const { stores } = readConfig(call.terminal.env);
    const what =
      `${describeObjects(stores.objects)} becomes the object store of ${describeItems(stores.items)}.`.replaceAll(
        / {2,}/g,
        " ",
      );
    await confirm(call, { what, unasked: "refused" });
    return outcome(call, true);
  },
});

export const stores: Group = {
  summary: "manage manage the store id of items, objects and triples",
  commands: { show, bind },
};

async function outcome(call: Call, bound: boolean): Promise<Outcome> {
  const config = readConfig(call.terminal.env);
  await requireData(config);
  const ids = await storeIds(config.stores, { log: logOf(call), bind: bound });
  const together = [ids.objects, ...ids.triples].every((id) => id === undefined || id === ids.items);
  const none = "none (set when it is opened)";
  const rows = {
    items: `${ids.items ?? none}  ${describeItems(config.stores.items)}`,
    objects: `${ids.objects ?? none}  ${describeObjects(config.stores.objects)}`,
    triples: ids.triples.join(", ") || none,
  };
  const verdict = together
    ? styled(call.terminal, "green", "They belong together.")
    : styled(call.terminal, "red", "They do not belong together.");
  return {
    answer: { ...ids, together },
    show: () => `${fields(call.terminal, rows)}\n\n${verdict}`,
    code: together ? 0 : failureExitCode,
  };
}
