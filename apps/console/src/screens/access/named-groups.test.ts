import { expect, it } from "vitest";
import { groupsOf } from "./groups-text.ts";
import { namedGroups } from "./groups-tab.tsx";

it("a group has all who bring it and all that it opens; what is open to all names none", () => {
  const found = namedGroups({
    keys: [
      { user_id: "ann", groups: ["people", "__proto__"] },
      { user_id: "ann", groups: ["people"] },
    ],
    repositories: [
      { name: "KB", allowed_groups: ["people"] },
      { name: "Open", allowed_groups: null },
    ],
    collections: [{ name: "HR", allowed_groups: ["people", "chiefs"] }],
  });
  expect(found).toEqual([
    { group: "__proto__", users: ["ann"], repositories: [], collections: [] },
    { group: "chiefs", users: [], repositories: [], collections: ["HR"] },
    { group: "people", users: ["ann"], repositories: ["KB"], collections: ["HR"] },
  ]);
});

it("groups are written on lines or with commas, each counts once", () => {
  expect(groupsOf(" a, b\n\n b ,,c c")).toEqual(["a", "b", "c c"]);
  expect(groupsOf(" \n")).toEqual([]);
});
