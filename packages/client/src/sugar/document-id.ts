/** Ids of frameworks may be any string; those of documents may not contain some characters, or start with the `~` of system items. */
const unfit = /[%/\\?#\p{Cc}\u{10ffff}]|^~/gu;

/** Reversible; a valid id is unchanged. */
export const encodeId = (id: string): string =>
  id.replace(unfit, (char) => encodeURIComponent(char).replace("~", "%7E"));

export const decodeId = (id: string): string => decodeURIComponent(id);
