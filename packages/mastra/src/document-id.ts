/** Ids of Mastra may be any text; those of documents may not hold some characters, nor begin with the `~` of the system's own. */

// oxlint-disable-next-line no-control-regex
const unfit = /[%/\\?#\u0000-\u001f\u007f\u{10ffff}]|^~/gu;

/** Reversible, and the id itself where it is fit already. */
export const encodeId = (id: string): string => id.replace(unfit, (char) => encodeURIComponent(char).replace("~", "%7E"));

export const decodeId = (id: string): string => decodeURIComponent(id);
