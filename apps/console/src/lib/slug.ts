/** A readable id from a name: "My documents" → "my-documents". Undefined if the name has no usable letters. Pure. */
const slugCharsMax = 60;

function slugOf(name: string): string | undefined {
  const plain = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  const slug = plain.replace(/^-/, "").slice(0, slugCharsMax).replace(/-$/, "");
  return slug === "" ? undefined : slug;
}

/** The slug, or the first free one of slug-2, slug-3 … */
export function freeSlug(name: string, taken: ReadonlySet<string>): string | undefined {
  const slug = slugOf(name);
  if (slug === undefined || !taken.has(slug)) return slug;
  let number = 2;
  while (taken.has(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
}
