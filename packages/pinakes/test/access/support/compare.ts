import type { Face } from "./faces.ts";
import { isVisible, type World } from "./world.ts";

/** What a face tells that it must not, or keeps back; nothing if it agrees with the rule for everybody. */
export async function differences(world: World, faces: Readonly<Record<string, Face>>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const person of world.people) {
    const visible = world.papers
      .filter((paper) => isVisible(person, paper))
      .map(({ name }) => name)
      .toSorted();
    const caller = world.as(person);
    for (const [name, face] of Object.entries(faces)) {
      const learned = await face(world, caller);
      const expected = typeof learned === "number" ? visible.length : visible;
      if (JSON.stringify(learned) !== JSON.stringify(expected))
        found.push(`${name} for ${person.id}: ${JSON.stringify(learned)} instead of ${JSON.stringify(expected)}`);
    }
  }
  return found;
}
