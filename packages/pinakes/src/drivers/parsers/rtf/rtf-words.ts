/** The meaning of RTF control words for the text. */

/** Groups that begin with these contain no text of the document. */
export const ignoredDestinations: ReadonlySet<string> = new Set(
  "fonttbl colortbl stylesheet pict info header headerl headerr headerf footer footerl footerr footerf listtable listoverridetable revtbl rsidtbl generator filetbl xmlnstbl themedata colorschememapping datastore latentstyles object objdata nonshppict fldinst bkmkstart bkmkend mmathPr pgdsctbl template private1 xe tc rxe txe annotation atnid atnauthor atndate atnref atnicn atrfstart atrfend pntext pntxta pntxtb listtext".split(
    " ",
  ),
);

export const characters: Readonly<Record<string, string>> = {
  tab: "\t",
  emdash: "—",
  endash: "–",
  emspace: " ",
  enspace: " ",
  qmspace: " ",
  bullet: "•",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
};

/** Code pages by RTF's charset number; the rest of Windows' are `windows-` and the number. */
const codePages: Readonly<Record<number, string>> = {
  866: "ibm866",
  874: "windows-874",
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  10_000: "macintosh",
  65_001: "utf-8",
};

export function codePageDecoder(page: number): InstanceType<typeof TextDecoder> {
  const label = codePages[page] ?? (page >= 1_250 && page <= 1_258 ? `windows-${page}` : "windows-1252");
  return new TextDecoder(label);
}
