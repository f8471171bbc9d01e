/** Ids of frameworks may be any text; those of documents may not hold some characters, nor begin with the `~` of the system's own. */
const unfit = /[%/\\?#\p{Cc}\u{10ffff}]|^~/gu;

/** Reversible, and the id itself where it is fit already. */
export const encodeId = (id: string): string =>
  id.replace(unfit, (char) => encodeURIComponent(char).replace("~", "%7E"));

export const decodeId = (id: string): string => decodeURIComponent(id);
